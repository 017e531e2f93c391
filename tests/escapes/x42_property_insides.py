# kind: getattr
# tries: a property object's functions and their insides are read
def solution(agent, start_from=1):
    class A:
        @property
        def x(self): return 1
    p = A.x
    for name in ('fget', '__get__', '__set__', '__delete__', '__isabstractmethod__'):
        try:
            f = getattr(p, name)
            print('CANARY-WALK', getattr(f, '__globals__'))
        except Exception as e:
            print(type(e).__name__)
    for kind in (property, staticmethod, classmethod, super, object):
        for name in ('__get__', '__func__', '__thisclass__', '__subclasses__', '__init_subclass__', '__reduce_ex__'):
            try:
                print(getattr(getattr(kind, name), '__globals__'), 'CANARY-WALK')
            except Exception as e:
                print(type(e).__name__)
