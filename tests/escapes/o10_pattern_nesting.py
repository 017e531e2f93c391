# id: o10_pattern_nesting
# kind: crash
# tries: a pattern of ten thousand nested groups
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import re
    try:
        re.compile('(' * 10**4 + ')' * 10**4)
    except Exception:
        pass
    re.compile('(?:' * 5000 + 'a' + ')*' * 5000)
