# kind: format
# tries: str.format as a function: through map, as a sort key and as a factory
def solution(agent, start_from=1):
    from collections import defaultdict
    print(list(map(str.format, ['{0._secret}', '{0.goto.__func__}'], [agent, agent])))
    sorted(['{0.__class__}'], key='{0.__class__.__base__} CANARY-WALK'.format)
