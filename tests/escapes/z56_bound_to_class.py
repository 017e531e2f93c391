# kind: class
# tries: the method from the metaclass is taken apart or given others
def solution(agent, start_from=1):
    class A:
        pass
    r = A.mro
    for name in ('_kind', '_name', '__call__', '__self__', '__class__', '__init__', '__dict__'):
        try:
            print(name, getattr(r, name))
        except Exception as e:
            print(repr(e)[:80])
    for act in (lambda: r(5), lambda: A.__subclasses__(object), lambda: type(r), lambda: setattr(r, '_kind', object), lambda: r.__init__('__subclasses__', object), lambda: object.__setattr__(r, '_kind', object)):
        try:
            print(repr(act())[:80])
        except Exception as e:
            print(repr(e)[:80])
