# kind: swallow
# tries: a handler that names AssertionError catches a limit behind a failed assertion
def solution(agent, start_from=1):
    def f():
        try:
            assert False, 'first'
        finally:
            while True: pass
    try:
        f()
    except AssertionError as e:
        print('CANARY-CAUGHT', e)
    except Exception as e:
        print('CANARY-CAUGHT', e)
    agent.goto('CANARY')
