# id: k10_counter_method_func
# kind: walk
# tries: a bound method of a Counter object leads to __func__ by a run-time name
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    from collections import Counter
    method = Counter('abc').most_common
    for name in ('__func__', '__self__', '__module__'):
        print('CANARY-WALK', getattr(method, name))
