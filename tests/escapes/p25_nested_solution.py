# kind: parse
# tries: solution inside a class, a condition, a decorator and a default
class A:
    def solution(agent, start_from=open('@SECRET@')):
        pass
if open('@MARKER@', 'w'):
    @print
    def solution(agent, start_from=print(open('@SECRET@').read())):
        pass
