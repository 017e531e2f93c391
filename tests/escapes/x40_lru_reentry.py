# kind: crash
# tries: a cache whose function clears and fills it, and whose keys compare by code
def solution(agent, start_from=1):
    import functools
    def f(n):
        c.cache_clear()
        return c(n + 1) if n < 900 else [c(i % 7) for i in range(100)]
    c = functools.lru_cache(maxsize=2)(f)
    for n in range(20):
        try:
            c(n)
        except RecursionError:
            pass
