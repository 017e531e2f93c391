# kind: swallow
# tries: an assertion fails, and a finally raises something harmless in its place
def solution(agent, start_from=1):
    if start_from <= 1:
        try:
            try:
                assert False, 'Error in [Step 1]: the truth'
            finally:
                int('x')
        except ValueError:
            print('swallowed')
        agent.goto('FORGED')
        print('CANARY-SWALLOW')
