# kind: walk
# tries: the class of a named tuple, and what hangs on it
def solution(agent, start_from=1):
    from collections import namedtuple
    P = namedtuple("P", "x")

    for attempt in (lambda: P.__new__, lambda: P.mro(), lambda: P.__init_subclass__, lambda: P(1)._field_defaults, lambda: P._make.__func__, lambda: P(1)._replace.__self__.__class__):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
