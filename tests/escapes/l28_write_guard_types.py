# kind: guards
# tries: item assignment on what the plan does not own: strings, tuples, modules, functions, the agent
def solution(agent, start_from=1):
    import json
    for owner in (agent, json, print, 'abc', (1, 2), range(3), ask, getattr):
        try:
            owner['loads'] = print
            print('CANARY-WRITE', owner)
        except TypeError:
            pass
