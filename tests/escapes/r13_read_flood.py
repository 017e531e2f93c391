# kind: flood
# tries: reading attributes is free of actions, but not of work for the host
def solution(agent, start_from=1):
    while True:
        agent.receptacles
