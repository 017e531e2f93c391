# id: n11_re_compile_bomb
# kind: cpu
# tries: repeats within repeats blow the compiled pattern up: compile alone takes minutes
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import re
    re.compile('(?:' * 12 + 'ab' + '){1,60000}' * 12)
