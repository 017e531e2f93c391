# kind: dunder
# tries: __new__ of one type makes objects of another, without its checks
def solution(agent, start_from=1):
    class A: pass
    class T(tuple): pass
    for work in (lambda: object.__new__(type(agent)) if False else object.__new__(int), lambda: tuple.__new__(A), lambda: int.__new__(bool, 5), lambda: object.__new__(type), lambda: Exception.__new__(AssertionError), lambda: super(T, T).__new__(dict), lambda: object.__new__(property), lambda: A.__new__(print), lambda: str.__new__(A)):
        try:
            print('CANARY-NEW', work())
        except Exception as e:
            print(type(e).__name__)
