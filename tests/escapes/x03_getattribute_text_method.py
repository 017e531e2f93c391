# kind: format
# tries: object.__getattribute__ of a text gives the unguarded format
def solution(agent, start_from=1):
    class T(str): pass
    def f(): pass
    print('CANARY-WALK', object.__getattribute__(T('{0.__globals__}'), 'format')(f))
