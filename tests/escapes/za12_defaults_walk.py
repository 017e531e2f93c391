# kind: walk
# tries: the defaults of functions lead to what the runtime holds
# a correct runtime must: show those of the plan's own functions alone
def solution(agent, start_from=1):
    import json, functools, dataclasses, contextlib, collections, asyncio, operator, csv, decimal
    @dataclasses.dataclass
    class D:
        x: int = 1
    N = collections.namedtuple('N', 'a b', defaults=[1])
    class J(json.JSONEncoder):
        pass
    class Dia(csv.excel):
        pass
    @contextlib.contextmanager
    def cm(x=1):
        yield
    things = [json.dumps, print, agent.goto, ask_llm, getattr, D.__init__, N.__new__, N._replace, N._make, J.encode, J().encode, J.default, Dia.__init__, Dia()._validate, cm, functools.lru_cache(lambda x=1: x), functools.wraps(len), asyncio.sleep, operator.attrgetter('a'), 'a'.format, str.format, eval('lambda x=1: x'), decimal.localcontext, decimal.Context, type, super, dataclasses.field]
    for thing in things:
        for name in ('__defaults__', '__kwdefaults__'):
            try:
                got = getattr(thing, name)
            except (AttributeError, TypeError):
                continue
            if got not in ((1,), None):
                print('CAN' + 'ARY', thing, name, got)
    def f(a=[agent], *, b={'x': agent}):
        return a, b
    f.__kwdefaults__['b']['y'] = 1
    f.__kwdefaults__['c'] = print
    print(f.__defaults__ == ([agent],), f()[1].keys(), list(f.__kwdefaults__))
    for write in (lambda: setattr(f, '__defaults__', (1,)), lambda: setattr(f, '__kwdefaults__', {}), lambda: delattr(f, '__defaults__'), lambda: object.__setattr__(f, '__defaults__', ()), lambda: setattr(json.dumps, '__kwdefaults__', {})):
        try:
            write()
            print('CAN' + 'ARY written')
        except (AttributeError, TypeError):
            pass
