# kind: agent
# tries: the method's name is made at run time, from text that the environment gave
def solution(agent, start_from=1):
    for name in ('_reset', '_act', '__init__', '__reduce__', '_secret', 'go' + 'to.__self__', '__getattribute__', '__dict__', 'reset', 'step'):
        try:
            print('CANARY-CALL', getattr(agent, name))
        except AttributeError:
            pass
