# kind: names
# tries: a function's parameters named like the guards
def solution(agent, start_from=1):
    def f(_getattr_, *_apply_, **_write_):
        return agent.goto('shelf 1')
    print('CANARY-BIND', f(lambda o, n: 'FORGED'))
