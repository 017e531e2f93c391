# kind: agent
# tries: the method's function, to be called with another self
def solution(agent, start_from=1):
    method = agent.goto
    print('CANARY-CALL', method.__func__, method.__self__, method.__wrapped__, method.__closure__)
