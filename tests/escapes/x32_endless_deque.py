# kind: cpu
# tries: an endless iterator drained by a deque of no length
def solution(agent, start_from=1):
    import itertools, collections
    collections.deque(itertools.cycle([1]), maxlen=0)
