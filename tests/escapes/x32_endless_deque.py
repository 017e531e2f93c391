# id: x32_endless_deque
# kind: cpu
# tries: an endless iterator drained by a deque of no length
# a correct runtime must: stop at the budget, report a limit error, keep the host alive and within its memory
def solution(agent, start_from=1):
    import itertools, collections
    collections.deque(itertools.cycle([1]), maxlen=0)
