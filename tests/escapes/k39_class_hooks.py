# kind: dunder
# tries: __class_getitem__, __init_subclass__ and __set_name__ run without being called, with the rights of Python
def solution(agent, start_from=1):
    class Base:
        def __init_subclass__(cls, **more):
            print('CANARY-HOOK', getattr(cls.__base__.__base__, '__sub' + 'classes__'), more)
        def __class_getitem__(cls, item):
            print('CANARY-HOOK', getattr(object, '__sub' + 'classes__'), item)
    class Derived(Base, more=print): pass
    Base[0]
