# kind: getattr
# tries: an attribute's name is a text of the plan's own class, which compares as another
def solution(agent, start_from=1):
    class N(str):
        def __eq__(self, o): return o == 'goto' or o == 'real'
        def __hash__(self): return 1
        def startswith(self, *a): return False
        def endswith(self, *a): return False
    class A: pass
    for work in (lambda n: getattr(agent, n), lambda n: getattr(A, n), lambda n: setattr(A, n, 1), lambda n: object.__setattr__(A(), n, 1), lambda n: object.__getattribute__(A(), n), lambda n: delattr(A(), n)):
        for name in ('_secret', '__subclasses__', '__del__', '__class__'):
            try:
                print('CANARY-NAME', work(N(name)))
            except Exception as e:
                print(type(e).__name__)
