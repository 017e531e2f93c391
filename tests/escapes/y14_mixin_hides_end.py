# kind: cpu
# tries: mixin methods of collections.abc catch the KeyError behind which the plan ends
# a correct runtime must: end the plan as it was going to end
def solution(agent, start_from=1):
    import collections.abc as c
    class M(c.MutableMapping):
        def __getitem__(self, key):
            try:
                assert False, 'the end'
            finally:
                raise KeyError(key)
        def __setitem__(self, key, value): pass
        def __delitem__(self, key): pass
        def __iter__(self): return iter(())
        def __len__(self): return 0
    class G(c.Generator):
        def send(self, value): assert False, 'the end'
        def throw(self, *a):
            assert False, 'the end'
    for attempt in (lambda: M().get('x'), lambda: 'x' in M(), lambda: M().pop('x', 1), lambda: M().setdefault('x', 1), lambda: G().close(), lambda: next(G(), 1)):
        try:
            attempt()
        except Exception:
            pass
        agent.goto('CANARY')
