# kind: swallow
# tries: assert with a truthy tuple, with a value whose truth is decided by the host's answer, and under a name called __debug__
def solution(agent, start_from=1):
    __debug__ = False
    assert (False, 'always true')
    assert False, 'Error in [Step 1]: the truth'
