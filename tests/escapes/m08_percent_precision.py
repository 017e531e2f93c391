# id: m08_percent_precision
# kind: mem
# tries: a precision in %-formatting of a float, and in an f-string, with digits that are no ASCII digits
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    n = 3 * 10**9
    print(len(f'{1.5:.{n}f}'), len('%.3000000000f' % 1.5))
