# kind: swallow
# tries: except* with AssertionError catches an end that is no failed assertion
def solution(agent, start_from=1):
    def deep(): deep()
    for kind in (AssertionError, (AssertionError, Exception), Exception):
        try:
            deep()
        except* kind as g:
            print('CANARY-CAUGHT', g.exceptions)
