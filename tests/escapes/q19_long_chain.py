# id: q19_long_chain
# kind: swallow
# tries: a recursion error behind as many errors as there are frames, each raised in a finally
# a correct runtime must: end the plan as stopped or failed, whatever the plan does after it; nothing may hide the limit or the assertion
def solution(agent, start_from=1):
    def deeper():
        try:
            deeper()
        finally:
            {}['nothing']
    if start_from <= 1:
        try:
            deeper()
        except KeyError:
            pass
        print('CANARY-SWALLOWED')
        assert agent
