# id: s18_ckpt_many_nodes
# kind: ckpt
# tries: millions of tiny values: the table is longer than what it stands for
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    a = [[] for _ in range(10**6)]
    b = {i: (i,) for i in range(10**6)}
    assert False, 'Error in [Step 1]: stop'
