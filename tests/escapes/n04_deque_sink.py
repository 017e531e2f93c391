# kind: cpu
# tries: deque(maxlen=0) eats an iterator at full speed and keeps nothing
def solution(agent, start_from=1):
    from collections import deque
    deque(filter(None, zip(range(10**12))), maxlen=0)
