# id: s15_ckpt_odd_values
# kind: ckpt
# tries: numbers and texts at the edge: big ints, NaN, -0.0, surrogates, bytes, empty containers, bools as keys
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    big, tiny, nan, zero = 7**20000, 5e-324, float('nan'), -0.0
    text, raw = '\ud800\0"\'\n', b'\xff\0'
    keys = {True: 1, 1.5: 2, None: 3, (): 4, frozenset([1]): 5, b'': 6}
    assert False, 'Error in [Step 1]: stop'
