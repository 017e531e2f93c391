# kind: swallow
# tries: the message of an assertion fails with an error that itself cannot be written: its argument is a number too long for that
# a correct runtime must: end the plan as stopped or failed, whatever the plan does after it; nothing may hide the limit or the assertion
def solution(agent, start_from=1):
    if start_from <= 1:
        try:
            assert False, {}[10 ** 5000]
        except Exception:
            print('CANARY-SWALLOWED')
        print('CANARY-SWALLOWED')
