# id: n10_re_quadratic
# kind: cpu
# tries: findall of `a*b` in a long row of a: quadratic, without any nesting
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import re
    print(re.findall('a*b', 'a' * 10**6))
