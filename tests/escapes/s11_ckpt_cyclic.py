# id: s11_ckpt_cyclic
# kind: ckpt
# tries: cycles and aliases through dicts, lists and tuples in the checkpoint
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    a, d = [], {}
    t = (a, d)
    a.extend([a, d, t])
    d['self'] = d
    d[('k', 1)] = t
    assert False, 'Error in [Step 1]: stop'
