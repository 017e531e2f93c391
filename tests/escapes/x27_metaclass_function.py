# kind: dunder
# tries: a function of the plan is given as a metaclass, and sees a class's namespace with its mark
def solution(agent, start_from=1):
    def made(name, bases, space):
        print('CANARY-META', sorted(space))
        return 1
    for meta in (made, lambda *a: print('CANARY-META', a), print, dict):
        try:
            class A(metaclass=meta): pass
            print('CANARY-META', A)
        except TypeError as e:
            print(e)
