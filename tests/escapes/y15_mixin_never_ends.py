# kind: cpu
# tries: mixin methods of collections.abc loop over methods without end
# a correct runtime must: stop the plan
def solution(agent, start_from=1):
    import collections.abc as c
    class S(c.MutableSequence):
        __getitem__ = __len__ = __setitem__ = __delitem__ = insert = lambda *a: 1
        pop = int
    class Q(c.Sequence):
        def __getitem__(self, key): return key
        __len__ = int
    for attempt in (lambda: 'x' in Q(), lambda: Q().index('x'), lambda: S().clear(), lambda: list(Q())):
        try:
            attempt()
        except Exception as e:
            print(type(e).__name__)
    agent.goto('CANARY')
