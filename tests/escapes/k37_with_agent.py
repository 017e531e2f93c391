# kind: walk
# tries: with calls __enter__ and __exit__ on anything
def solution(agent, start_from=1):
    with agent as inner:
        print('CANARY-WALK', inner)
