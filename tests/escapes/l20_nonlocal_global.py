# kind: names
# tries: global and nonlocal reach the runtime's own names from a nested function
def solution(agent, start_from=1):
    def f():
        global __builtins__, _getattr_
        __builtins__ = {'open': 'CANARY-BIND'}
        _getattr_ = lambda o, n: 'FORGED'
    f()
    print(agent.goto)
