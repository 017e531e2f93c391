# kind: dunder
# tries: super is called with a class whose __mro__ or __class__ lies
def solution(agent, start_from=1):
    class Liar:
        def __getattribute__(self, name):
            if name == '__class__': return A
            return object.__getattribute__(self, name)
    class A: pass
    class B(A):
        def f(self): return super()
    liar = Liar()
    for work in (lambda: super(A, liar).__getattribute__('__re' + 'duce__'), lambda: getattr(super(B, liar).__init__, '__self__'), lambda: B.f(liar).__dict__, lambda: getattr(B.f(liar), '__reduce_ex__')(4)):
        try:
            print('CANARY-WALK', work())
        except Exception as e:
            print(type(e).__name__)
