# kind: mem
# tries: a precision in %-formatting of a float, and in an f-string, with digits that are no ASCII digits
def solution(agent, start_from=1):
    n = 3 * 10**9
    print(len(f'{1.5:.{n}f}'), len('%.3000000000f' % 1.5))
