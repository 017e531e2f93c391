# kind: swallow
# tries: a second assertion, caught by its name in finally or __exit__, makes the runtime forget the first
# a correct runtime must: end the plan with the first
def solution(agent, start_from=1):
    def caught():
        try:
            assert False, 'the second'
        except AssertionError:
            pass
    class Context:
        def __enter__(self):
            return self
        def __exit__(self, *error):
            caught()
            return True
    def returns():
        try:
            assert False, 'the first'
        finally:
            caught()
            return 1
    def leaves():
        with Context():
            assert False, 'the first'
    def raises():
        try:
            assert False, 'the first'
        finally:
            caught()
            raise ValueError
    for way in (returns, leaves, raises):
        try:
            way()
        except ValueError:
            pass
        agent.goto('CANARY')
