# kind: cpu
# tries: objects with equal hashes and a slow __eq__ fill dicts and sets
def solution(agent, start_from=1):
    class K:
        def __init__(self, n): self.n = n
        def __hash__(self): return 7
        def __eq__(self, o): return self.n == o.n
    table = {}
    for n in range(10 ** 6):
        table[K(n)] = n
    print('CANARY-DONE')
