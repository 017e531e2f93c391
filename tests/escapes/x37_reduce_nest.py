# kind: crash
# tries: a list nested by reduce, then compared, hashed, printed, copied
def solution(agent, start_from=1):
    import functools, copy, json, pprint, operator
    a = functools.reduce(lambda x, y: (x,), range(10**5), ())
    for use in (repr, hash, copy.deepcopy, copy.copy, json.dumps, pprint.pformat, lambda x: operator.eq(x, (x,)), lambda x: operator.contains([x], (x,))):
        try:
            use(a)
        except RecursionError:
            pass
