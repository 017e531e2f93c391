# kind: parse
# tries: a pattern of nested classes multiplies what is compiled
def solution(agent, start_from=1):
    class A:
        __match_args__ = ('a', 'b')
        a = b = property(lambda self: self)
    match A():
        case A(A(A(A(A(A(A(A(A(A(A(A(A(A(1 | 2) | 3, 4) | 5) | 6) | 7) | 8) | 9) | 10) | 11) | 12) | 13) | 14) | 15) | 16) | 17: print('CANARY-MATCH')
        case A(a=A(b=A(a=A(b=A(a=A())))))as x: print(type(x).__name__)
