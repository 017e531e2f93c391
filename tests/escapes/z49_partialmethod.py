# kind: class
# tries: partialmethod over functions of the runtime and of Python
def solution(agent, start_from=1):
    import functools, json

    class C:
        a = functools.partialmethod(object.__setattr__, 'x')
        b = functools.partialmethod(getattr, '__dict__')
        c = functools.partialmethod(object.__getattribute__, '__reduce_ex__')
        d = functools.partialmethod(type, 5)
        e = functools.partialmethod(str.format, 'x')
        g = functools.partialmethod(json.dumps)
        h = functools.partialmethod(vars)
        i = functools.partialmethod(setattr, '__class__')

        def __init_subclass__(cls):
            pass
    for n in 'abcdeghi':
        for o in (C(), C):
            try:
                m = getattr(o, n)
                print(n, repr(m)[:60])
                for name in ('_partialmethod', '__partialmethod__', 'func', '__self__', '__func__', '__globals__', '__wrapped__', '__isabstractmethod__', '__signature__'):
                    try:
                        print(name, repr(getattr(m, name))[:60])
                    except Exception as e:
                        pass
                print(repr(m(5))[:80])
            except Exception as e:
                print(n, repr(e)[:90])
    print([getattr(C.__dict__['a'], n, None) for n in ('func', 'args', 'keywords')])
