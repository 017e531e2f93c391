# kind: guards
# tries: starred calls go through a helper: call it with no function, with the agent, with text
def solution(agent, start_from=1):
    args = [agent, 'x']
    for target in (agent, 'text', 5, None, [], {}):
        try:
            target(*args, **{'function': print})
            print('CANARY-CALL')
        except TypeError:
            pass
