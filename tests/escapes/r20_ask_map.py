# kind: ask
# tries: ask by map and as a sort key: a thousand questions without a loop
def solution(agent, start_from=1):
    list(map(ask, ['x'] * 10000))
