# id: q10_suppress
# kind: swallow
# tries: contextlib.suppress and ExitStack as with statements
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    from contextlib import suppress
    with suppress(BaseException):
        assert False, 'Error in [Step 1]: the truth'
    print('CANARY-SWALLOW')
