# id: m11_expandtabs
# kind: mem
# tries: tabs that grow
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(len(('\t' * 10**6).expandtabs(10**6)))
