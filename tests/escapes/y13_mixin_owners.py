# kind: class
# tries: mixin methods of collections.abc are called with objects that are not the plan's
# a correct runtime must: take objects of the plan alone
def solution(agent, start_from=1):
    import collections.abc as c
    class M(c.MutableMapping):
        def __getitem__(self, key): return 1
        def __setitem__(self, key, value): pass
        def __delitem__(self, key): pass
        def __iter__(self): return iter(())
        def __len__(self): return 0
    class S(c.MutableSequence):
        def __getitem__(self, key): raise IndexError
        def __setitem__(self, key, value): pass
        def __delitem__(self, key): pass
        def __len__(self): return 0
        def insert(self, index, value): pass
    for owner in (agent, agent.goto, print, json, re, ask_llm, type, M, {}, []):
        for kind, name, given in ((M, 'update', ({'location': 'CANARY'},)), (M, 'pop', ('x',)), (M, 'clear', ()), (M, 'setdefault', ('a', 'CANARY')), (M, 'get', ('a',)), (M, 'items', ()), (S, 'append', (1,)), (S, 'extend', ([1],)), (S, 'clear', ()), (S, 'pop', ())):
            try:
                got = getattr(kind, name)(owner, *given)
                print('CAN' + 'ARY', name, got)
            except (TypeError, AttributeError, NameError):
                pass
    m = M()
    for other in (agent, json, re, print, agent.goto):
        try:
            m.update(other)
            print('CAN' + 'ARY took', other)
        except (TypeError, AttributeError):
            pass
