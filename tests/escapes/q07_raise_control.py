# kind: swallow
# tries: raise the runtime's own signals: AssertionError with a forged step, SystemExit, GeneratorExit, a class that is no exception
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] a')
        raise AssertionError('Error in [Step 99]: FORGE')
