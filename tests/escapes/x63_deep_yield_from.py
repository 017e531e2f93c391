# kind: crash
# tries: yield from is chained deep enough for the C stack
def solution(agent, start_from=1):
    def g(n):
        if n: yield from g(n - 1)
        yield n
    it = iter([])
    def chain(inner):
        yield from inner
    for _ in range(200000):
        it = chain(it)
    print(next(it, 'CANARY-DEEP'))
