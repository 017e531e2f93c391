# kind: walk
# tries: __subclasses__ of own classes shows runtime's, by names and by map
def solution(agent, start_from=1):
    import operator, functools

    class A:
        pass

    class B(A):
        pass
    o = object
    E = Exception
    for act in (lambda: A.__subclasses__(), lambda: o.__subclasses__(), lambda: E.__subclasses__(), lambda: getattr(object, '__subclasses__')(), lambda: operator.attrgetter('__subclasses__')(object)(), lambda: getattr(type, '__subclasses__')(object), lambda: operator.methodcaller('__subclasses__')(int), lambda: getattr(super(A, A), '__subclasses__')(), lambda: getattr(super(A, A()), '__subclasses__')(), lambda: '{0.__subclasses__}'.format(object), lambda: A.__subclasses__._kind, lambda: getattr(A.mro()[-1], '__subclasses__')(), lambda: object.__getattribute__(A, '__subclasses__')(), lambda: getattr(object.__getattribute__(A(), '__class__'), '__subclasses__')()):
        try:
            got = act()
            print(repr(got)[:80])
            if 'B' not in repr(got) and isinstance(got, list) and (len(got) > 3):
                print('CAN' + 'ARY')
        except Exception as e:
            print(repr(e)[:80])
