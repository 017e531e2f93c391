# kind: format
# tries: string.Formatter and UserString, whose format is not guarded
def solution(agent, start_from=1):
    try:
        import string
        print("CANARY-WALK", string.Formatter().format("{0.__class__.__init__.__globals__}", string.Formatter()))
    except AttributeError:
        pass
    import collections

    for attempt in (lambda: collections.UserString('{0.__class__}').format(1), lambda: collections.UserString('a').data):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
