# kind: walk
# tries: guarded methods are wrapped: partial.func and partial.args uncover what is beneath
def solution(agent, start_from=1):
    method = 'abc'.format
    print('CANARY-WALK', method.func, method.args, method.keywords)
