# id: m03_format_map_missing
# kind: format
# tries: format_map with a defaultdict whose factory gives the agent
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    from collections import defaultdict
    d = defaultdict(lambda: agent)
    print('CANARY-WALK', '{anything._secret}'.format_map(d))
