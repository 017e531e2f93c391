# kind: names
# tries: annotations are evaluated: of a variable, of an item, of a parameter, of a return
def solution(agent, start_from=1):
    x: print(open('@SECRET@').read()) = 1
    def f(a: print('CANARY-HINT') = 1, *b: open('@MARKER@', 'w')) -> print(ask.__globals__):
        return a
    d = {}
    d[print('ok')]: open('@MARKER@', 'w') = 1
    f()
