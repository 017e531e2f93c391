# id: r07_argument_huge
# kind: agent
# tries: an argument of 100 MB, made of pieces
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    agent.goto(['x' * 10**6] * 100)
