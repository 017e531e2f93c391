# kind: names
# tries: a class binds names of guards and of the runtime for the code in its body
def solution(agent, start_from=1):
    class A:
        def _getattr_(*a): return print
        _mul_ = lambda a, b: 'CANARY'
        x = 3 * 4
