# kind: walk
# tries: the parts of partial functions lead to the runtime's functions
# a correct runtime must: give what the plan gave alone
def solution(agent, start_from=1):
    import functools, operator
    from functools import partial, partialmethod, singledispatchmethod
    secrets = ['a'.format, 'a'.encode, b'a'.decode, 'a'.ljust, str.format, print, agent.goto, agent.report, eval, getattr, json.dumps]
    for f in secrets:
        p = partial(f)
        for name in ('func', 'args', 'keywords', '__self__', '__func__', '__dict__', '__setstate__', '__reduce__', '__wrapped__', '_method', '__code__', '__globals__', '__closure__'):
            try:
                got = operator.attrgetter(name)(p)
            except AttributeError:
                continue
            if name == 'func' and (got is f or type(got).__name__ == 'method-wrapper'):
                continue
            if got not in ((), {}):
                print('CAN' + 'ARY', name, got)
        q = partial(partial(f, 1), 2)
        for part in (p.func, q.func, q.args):
            for name in ('func', '__self__', '__objclass__', '__globals__'):
                try:
                    got = getattr(part, name)
                    if got is not f:
                        print('CAN' + 'ARY', name, got)
                except AttributeError:
                    pass
    for name in ('args', 'func', 'keywords'):
        try:
            setattr(partial(print), name, 1)
            print('CAN' + 'ARY written')
        except (AttributeError, TypeError):
            pass
    partial(print).keywords.update(file=agent)
    class K:
        m = partialmethod(getattr, '__class__')
        n = partialmethod(print, 'x', file=agent)
        o = singledispatchmethod(getattr)
    for attempt in (lambda: K().m(), lambda: K().n(), lambda: K().o(1, '__class__'), lambda: K.__dict__['m'].func, lambda: K.__dict__['o'].dispatcher, lambda: K.m._partialmethod, lambda: partial.__new__(int, print), lambda: partial.__call__(1), lambda: operator.attrgetter('__setstate__')(partial(print)), lambda: operator.attrgetter('__reduce__')(partial(print))):
        try:
            got = attempt()
            if got is not K and got is not None:
                print('CAN' + 'ARY', got)
        except (AttributeError, TypeError, NameError):
            pass
