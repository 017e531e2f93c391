# id: m16_match_expand
# kind: mem
# tries: Match.expand of a template that repeats a long group
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import re
    m = re.match('(a+)', 'a' * 10**6)
    print(len(m.expand(r'\1' * 20000)))
