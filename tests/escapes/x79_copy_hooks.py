# kind: exc
# tries: __copy__, __deepcopy__ and __missing__ of a plan's objects run in the runtime's hands
def solution(agent, start_from=1):
    class D(dict):
        def __missing__(self, k): return 'CANARY'
        def __contains__(self, k): return True
        def get(self, *a): return 'CANARY'
        def items(self): return [('a', agent)]
        def __iter__(self): return iter([1, agent])
    d = D(a=1)
    for work in (lambda: agent.put(d, 'shelf 1'), lambda: '{x}'.format_map(d), lambda: print(**d), lambda: agent.goto(**d), lambda: agent.goto(*d), lambda: ask(**d)):
        try:
            work()
        except Exception as e:
            print(type(e).__name__)
