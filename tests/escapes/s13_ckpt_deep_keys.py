# kind: ckpt
# tries: a dict whose keys are tuples ten thousand deep
def solution(agent, start_from=1):
    t = ()
    for _ in range(10**4):
        t = (t, 1)
    d = {}
    try:
        d[t] = t
    except Exception:
        pass
    assert False, 'Error in [Step 1]: stop'
