# id: p25_nested_solution
# kind: parse
# tries: solution inside a class, a condition, a decorator and a default
# a correct runtime must: reject at check time with a diagnostic, or run it like any other plan; the parser may die in its worker, never the host
class A:
    def solution(agent, start_from=open('@SECRET@')):
        pass
if open('@MARKER@', 'w'):
    @print
    def solution(agent, start_from=print(open('@SECRET@').read())):
        pass
