# kind: crash
# tries: dict, set, deque and OrderedDict changed from inside a callback of an iteration in C
def solution(agent, start_from=1):
    from collections import OrderedDict, deque, Counter
    for make in (dict, OrderedDict, Counter):
        d = make((i, i) for i in range(100))
        try:
            sorted(d.items(), key=lambda kv: d.pop(kv[0], None) or d.update({kv[0] + 1000: 1}) or 0)
        except (RuntimeError, TypeError):
            pass
    q = deque(range(100))
    try:
        max(q, key=lambda x: q.clear() or x)
    except RuntimeError:
        pass
    s = set(range(100))
    try:
        s.update(map(lambda x: s.clear() or x, s))
    except RuntimeError:
        pass
