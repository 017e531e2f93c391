# kind: walk
# tries: a bound method of a list knows its object; a builtin function knows its module
def solution(agent, start_from=1):
    print('CANARY-WALK', [].append.__self__)
