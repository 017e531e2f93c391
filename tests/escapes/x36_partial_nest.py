# kind: crash
# tries: partial, wraps and cmp_to_key nested a hundred thousand deep
def solution(agent, start_from=1):
    import functools
    f = len
    for n in range(10**5):
        f = functools.partial(lambda g, x: g(x), f) if n % 2 else functools.lru_cache(f)
    print(f("a"))
