# id: q12_notimplemented
# kind: swallow
# tries: an assertion inside a comparison or a condition that Python would retry the other way round
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    def fails():
        assert False, 'Error in [Step 1]: the truth'
    try:
        if not (fails() == 1 or fails() < 2 < fails()):
            pass
    except TypeError:
        pass
    print('CANARY-SWALLOW')
