# kind: swallow
# tries: an assertion that a handler raises again, or that finally forgot, is caught by BaseException
# a correct runtime must: end the plan with the first
def solution(agent, start_from=1):
    try:
        try:
            assert False, 'the first'
        except AssertionError:
            raise
    except BaseException:
        agent.goto('CANARY raised again')
    try:
        try:
            assert False, 'the first'
        finally:
            try:
                assert False, 'the second'
            except AssertionError:
                pass
    except BaseException:
        agent.goto('CANARY forgotten')
