# kind: names
# tries: _ｇetattr_ normalises to the guard's own name: call it with no check of the name
def solution(agent, start_from=1):
    print('CANARY-WALK', _ｇetattr_(agent, '_secret'))
