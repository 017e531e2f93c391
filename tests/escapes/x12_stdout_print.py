# kind: walk
# tries: the output stream leads to what prints it
def solution(agent, start_from=1):
    import sys

    for attempt in (lambda: getattr(sys.stdout.write, '__' + 'self__'), lambda: getattr(sys.stdout, '_' + 'print'), lambda: sys.stdout.print, lambda: sys.stdout.write(b'CANARY'), lambda: type(sys.stdout)(print), lambda: sys.stdout.__class__._kind):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
