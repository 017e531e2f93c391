# kind: swallow
# tries: an assertion that fails where no further call fits is a RecursionError, which a handler catches
# a correct runtime must: end the plan with the assertion
def solution(agent, start_from=1):
    def deep():
        try:
            deep()
        except RecursionError:
            try:
                assert False, 'the end'
            except RecursionError:
                return
    deep()
    agent.goto('CANARY')
