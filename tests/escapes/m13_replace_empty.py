# id: m13_replace_empty
# kind: mem
# tries: replace of nothing puts a long text between all letters
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(len(('a' * 10**6).replace('', 'x' * 10**5)))
