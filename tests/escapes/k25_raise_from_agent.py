# kind: exc
# tries: raise … from an object that is no exception, and raise the proxy itself
def solution(agent, start_from=1):
    try:
        raise ValueError('a') from agent
    except Exception as e:
        print(e.__cause__ and 'CANARY-WALK')
    raise agent
