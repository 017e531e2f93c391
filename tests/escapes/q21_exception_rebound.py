# id: q21_exception_rebound
# kind: swallow
# tries: Exception is bound to another class, as a variable and as a parameter, while an assertion's message fails
# a correct runtime must: end the plan as stopped or failed, whatever the plan does after it; nothing may hide the limit or the assertion
def solution(agent, start_from=1):
    def check(Exception):
        assert False, {}['nothing']
    if start_from <= 1:
        Exception = ValueError
        for fail in (lambda: check(ValueError), lambda: check(())):
            try:
                fail()
            except KeyError:
                print('CANARY-SWALLOWED')
        try:
            assert False, {}['nothing']
        except KeyError:
            print('CANARY-SWALLOWED')
