# kind: dunder
# tries: an object that is no class stands as a base and gives others by __mro_entries__
def solution(agent, start_from=1):
    class Base:
        def __getattr__(self, name):
            print('asked for', name)
            return lambda bases: (print,)
    try:
        class A(Base()): pass
        print('CANARY-BASE', A)
    except Exception as e:
        print(type(e).__name__, e)
