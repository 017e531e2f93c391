# id: m30_deque_from_range
# kind: mem
# tries: deque and OrderedDict are given an endless source
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    from collections import deque
    print(len(deque(range(10**10))))
