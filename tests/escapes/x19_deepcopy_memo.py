# id: x19_deepcopy_memo
# kind: format
# tries: the memo of deepcopy tells addresses
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    import copy
    memo = {}
    copy.deepcopy([[1], {2: 3}], memo)
    for key in memo:
        if key > 10**9: print("CANARY-ADDRESS", key)
