# kind: crash
# tries: a Counter is emptied while it counts
def solution(agent, start_from=1):
    from collections import Counter
    c = Counter()
    class K:
        def __init__(self, n): self.n = n
        def __hash__(self): return 1
        def __eq__(self, o):
            c.clear()
            return self.n == o.n
    c.update([K(1), K(2), K(1), K(3)] * 20)
    print(len(c))
