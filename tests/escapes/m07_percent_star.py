# id: m07_percent_star
# kind: mem
# tries: '%*d' takes the width from a value
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(len('%*d' % (5 * 10**9, 1)))
