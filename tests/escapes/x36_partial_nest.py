# id: x36_partial_nest
# kind: crash
# tries: partial, wraps and cmp_to_key nested a hundred thousand deep
# a correct runtime must: stop at the budget, report a limit error, keep the host alive and within its memory
def solution(agent, start_from=1):
    import functools
    f = len
    for n in range(10**5):
        f = functools.partial(lambda g, x: g(x), f) if n % 2 else functools.lru_cache(f)
    print(f("a"))
