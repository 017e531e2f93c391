# id: m09_format_builtin_width
# kind: mem
# tries: format() and str.format with the width as an argument
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(len(format(1, '>' + '9' * 10)), len('{:{}}'.format(1, 10**10)))
