# kind: ckpt
# tries: objects of classes over collections.abc lie when they are saved
# a correct runtime must: save their attributes alone
def solution(agent, start_from=1):
    import collections.abc as c
    class M(c.Mapping):
        def __init__(self): self.d = {'__class__': agent.report(), 1: 2}
        def __getitem__(self, key): agent.goto('CANARY'); return key
        def __iter__(self): agent.goto('CANARY'); return iter([1])
        def __len__(self): agent.goto('CANARY'); return 10 ** 9
        def __getattr__(self, name): agent.goto('CANARY'); return self
    class G(c.Generator):
        def send(self, value): agent.goto('CANARY')
        def throw(self, *a): agent.goto('CANARY')
    m, g, keys, views = M(), G(), [M()], M.keys
    if start_from <= 1:
        assert agent.goto('desk 1')
    if start_from <= 2:
        agent.put(m, 'shelf 1')
