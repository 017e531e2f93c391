# kind: walk
# tries: what type() tells of functions, modules and the agent makes objects, is derived from, or leads to a class
def solution(agent, start_from=1):
    import copy, contextlib, functools, hashlib, operator, re, types, typing
    @contextlib.contextmanager
    def manager(): yield
    def generator(): yield
    values = [agent, print, re, lambda: 0, [].append, len, hashlib.md5(), typing.Optional, typing.Any, manager()]
    values += [generator(), functools.lru_cache(len), type(len), types.SimpleNamespace, print.__class__]
    names = ['__mro__', '__base__', '__bases__', '__subclasses__', '__init__', '__new__', '__dict__', '__call__', '__globals__', '_kind', 'mro', 'read', 'full_name']
    for value in values:
        try:
            kind = type(value)
        except TypeError:
            continue
        if kind in (type, types.SimpleNamespace, types.GeneratorType):
            continue
        for name in names:
            for read in (getattr, lambda v, n: operator.attrgetter(n)(v), lambda v, n: ('{0.' + n + '}').format(v)):
                try:
                    print('CANARY-WALK', name, read(kind, name))
                except (AttributeError, ValueError, TypeError) as e:
                    print(type(e).__name__)
        for call in (lambda: kind(), lambda: kind(value), lambda: kind('a', (), {}), lambda: kind.__init__(kind, object), lambda: copy.copy(kind)()):
            try:
                print('CANARY-MADE', call())
            except (AttributeError, TypeError) as e:
                print(type(e).__name__)
        try:
            class Derived(kind): pass
            print('CANARY-DERIVED')
        except TypeError as e:
            print(e)
        try:
            print('CANARY-MADE', type('D', (kind,), {}))
        except TypeError as e:
            print(e)
        try:
            match value:
                case kind(_kind=x): print('CANARY-WALK', x)
        except TypeError as e:
            print(e)
        try:
            kind._kind = int
            print('CANARY-WRITE')
        except (AttributeError, TypeError) as e:
            print(type(e).__name__)
        print(kind, isinstance(value, kind), {kind: 1}, dir(kind))
