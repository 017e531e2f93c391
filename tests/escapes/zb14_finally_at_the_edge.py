# kind: swallow
# tries: replan and an assertion, called where no further call fits, are lost by a return in finally
# a correct runtime must: end the plan
def solution(agent, start_from=1):
    def deep(end):
        try:
            deep(end)
        except RecursionError:
            try:
                end()
            finally:
                return
    def fails():
        try:
            fails()
        except RecursionError:
            assert False, 'the end'
        finally:
            return 1
    fails()
    agent.goto('CANARY an assertion')
    deep(lambda: replan('now'))
    agent.goto('CANARY replan')
