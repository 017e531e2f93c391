# id: k27_exception_group_class
# kind: exc
# tries: ExceptionGroup.split with a function: a C call-back that gets raw exceptions
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    group = ExceptionGroup('g', [ValueError(1)])
    print('CANARY-WALK', group.split(lambda e: e.__traceback__.tb_frame))
