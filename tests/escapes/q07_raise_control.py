# id: q07_raise_control
# kind: swallow
# tries: raise the runtime's own signals: AssertionError with a forged step, SystemExit, GeneratorExit, a class that is no exception
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] a')
        raise AssertionError('Error in [Step 99]: FORGE')
