# id: k37_with_agent
# kind: walk
# tries: with calls __enter__ and __exit__ on anything
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    with agent as inner:
        print('CANARY-WALK', inner)
