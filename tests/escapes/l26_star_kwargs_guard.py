# kind: guards
# tries: keywords made at run time aim at parameters of the guards
def solution(agent, start_from=1):
    def f(**more):
        return more
    for name in ('_getattr_', 'function', 'self', 'value', 'name', 'guarded_getattr', '__class__', 'growth'):
        f(**{name: agent})
        try:
            agent.goto(**{name: '_secret'})
            print('CANARY-KEYWORD', name)
        except (TypeError, RuntimeError):
            pass
