# kind: class
# tries: update of a mixin calls keys of the agent's or the runtime's objects
def solution(agent, start_from=1):
    from collections.abc import MutableMapping
    import json, asyncio, typing

    class M(MutableMapping):

        def __init__(self):
            self.d = {}

        def __getitem__(self, k):
            return self.d[k]

        def __setitem__(self, k, v):
            self.d[k] = v

        def __delitem__(self, k):
            del self.d[k]

        def __iter__(self):
            return iter(self.d)

        def __len__(self):
            return len(self.d)
    m = M()
    for x in (agent, json, json.dumps, asyncio.Queue(), print, int, globals(), typing, M):
        try:
            m.update(x)
            print(m.d)
        except Exception as e:
            print(repr(e)[:80])
    for act in (lambda: M.update({}, {1: 2}), lambda: M.pop({1: 2}, 1), lambda: M.setdefault({}, 1, 2), lambda: M.update(self={}, other={}), lambda: M.clear({}), lambda: M._MutableMapping__marker, lambda: m._MutableMapping__marker, lambda: getattr(super(M, m).update, '__func__')):
        try:
            print(repr(act())[:90])
        except Exception as e:
            print(repr(e)[:90])
