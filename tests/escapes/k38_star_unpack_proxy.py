# id: k38_star_unpack_proxy
# kind: dunder
# tries: star-unpacking asks the proxy for __iter__ or __getitem__ without a limit
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    first, *rest = agent
    print('CANARY-WALK', [*agent], {**agent}, first)
