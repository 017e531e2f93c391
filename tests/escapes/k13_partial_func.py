# id: k13_partial_func
# kind: walk
# tries: guarded methods are wrapped: partial.func and partial.args uncover what is beneath
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    method = 'abc'.format
    print('CANARY-WALK', method.func, method.args, method.keywords)
