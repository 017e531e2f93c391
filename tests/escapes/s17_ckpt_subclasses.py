# id: s17_ckpt_subclasses
# kind: ckpt
# tries: values of subclasses that the allowed modules make: Counter, OrderedDict, deque, defaultdict with a factory
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    from collections import Counter, OrderedDict, defaultdict, deque
    c, o, q, d = Counter('aab'), OrderedDict(a=1), deque([1], maxlen=2), defaultdict(lambda: agent, {'k': 1})
    mixed = [c, {'o': o}, (q, d)]
    assert False, 'Error in [Step 1]: stop'
