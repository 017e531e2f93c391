# kind: crash
# tries: a default factory that looks up the very key it is making
def solution(agent, start_from=1):
    from collections import defaultdict
    d = defaultdict(lambda: d['x'])
    print(d['x'])
