# kind: names
# tries: a comprehension's target is the guard that its own condition uses
def solution(agent, start_from=1):
    print('CANARY-BIND', [x.real for x in [1] for _getattr_ in [lambda o, n: 'FORGED']])
