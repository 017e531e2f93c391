# id: k25_raise_from_agent
# kind: exc
# tries: raise … from an object that is no exception, and raise the proxy itself
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    try:
        raise ValueError('a') from agent
    except Exception as e:
        print(e.__cause__ and 'CANARY-WALK')
    raise agent
