# kind: names
# tries: del agent.location, del of items of what the host gave, del of a runtime's name
def solution(agent, start_from=1):
    del agent.location
    del agent.receptacles[0]
    del print, agent
