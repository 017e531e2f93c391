# kind: format
# tries: the memo of deepcopy tells addresses
def solution(agent, start_from=1):
    import copy
    memo = {}
    copy.deepcopy([[1], {2: 3}], memo)
    for key in memo:
        if key > 10**9: print("CANARY-ADDRESS", key)
