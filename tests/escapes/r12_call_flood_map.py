# id: r12_call_flood_map
# kind: agent
# tries: the agent's method as a callback: map makes the calls, no loop is in the source
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    list(map(agent.goto, ['shelf 1'] * 10**6))
