# kind: crash
# tries: ten thousand generators are suspended in with and finally when the run ends
def solution(agent, start_from=1):
    class C:
        def __enter__(self): return self
        def __exit__(self, *e):
            print('left')
            agent.goto('shelf 1')
            return True
    def g(n):
        with C():
            try:
                yield n
            finally:
                agent.goto('drawer 1')
    kept = []
    for n in range(10000):
        it = g(n)
        next(it)
        kept.append(it)
    kept.append(kept)
    assert False, 'the end'
