# kind: builtins
# tries: isinstance with a class from a value: the type of the agent, of a façade, by subclass tests against Exception's parents
def solution(agent, start_from=1):
    import json
    kinds = (str, int, Exception, type(None))
    print([k for k in kinds if isinstance(agent, k) or isinstance(json, k)])
    print(issubclass(type(agent), object) and 'CANARY-WALK')
