# id: n12_re_many_patterns
# kind: cpu
# tries: thousands of different patterns: the cache of re does not help
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import re
    n = 0
    while True:
        n += 1
        re.compile('(a|b|%d){1,%d}' % (n, n))
