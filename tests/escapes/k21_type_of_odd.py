# kind: walk
# tries: type() of what is not data: functions, modules, the agent
def solution(agent, start_from=1):
    import re
    for value in (agent, print, re, lambda: 0, [].append):
        try:
            print('CANARY-WALK', type(value))
        except TypeError:
            pass
