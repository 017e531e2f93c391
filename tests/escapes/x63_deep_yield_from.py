# id: x63_deep_yield_from
# kind: crash
# tries: yield from is chained deep enough for the C stack
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
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
