# kind: forge
# tries: a nested function holds a guard of a later step; the failure is step 1's
def solution(agent, start_from=1):
    if start_from <= 1:
        def inner(start_from=1):
            if start_from <= 7:
                assert False, 'Error in [Step 7]: FORGE'
        inner()
    if start_from <= 2:
        assert agent.location, 'Error in [Step 2]'
