# kind: swallow
# tries: except* with a jump in finally takes an end apart
def solution(agent, start_from=1):
    def f(end):
        while True:
            try:
                end()
            except* Exception as e:
                agent.goto('CANARY')
            finally:
                break
    def fails():
        assert False, 'the end'
    f(fails)
    agent.goto('CANARY')
