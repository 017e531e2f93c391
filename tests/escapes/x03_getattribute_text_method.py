# id: x03_getattribute_text_method
# kind: format
# tries: object.__getattribute__ of a text gives the unguarded format
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    class T(str): pass
    def f(): pass
    print('CANARY-WALK', object.__getattribute__(T('{0.__globals__}'), 'format')(f))
