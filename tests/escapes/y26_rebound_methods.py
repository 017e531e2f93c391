# kind: frame
# tries: partialmethod and singledispatchmethod bind methods of the runtime to an object, which gets a frame or is evaluated
def solution(agent, start_from=1):
    import asyncio, functools, threading
    class Dispatched:
        def __init__(self, f):
            self.f = functools.singledispatchmethod(f)
            self.f.register(int, f)
    given = [eval, vars, dir, locals, globals, print, getattr, threading.Lock().acquire, asyncio.get_event_loop().time]
    for f in given:
        for made in (functools.partialmethod(f), functools.singledispatchmethod(f), Dispatched(f).f, classmethod(f), property(f), functools.cached_property(f)):
            class C:
                m = made
                _names = _space = {}
                def _variables_of(self, frame):
                    print('CAN' + 'ARY', frame)
                    return {}
                def _compile_expression(self, text):
                    print('CAN' + 'ARY', text)
                    return "().__class__.__base__.__subclasses__()"
            for attempt in (lambda: C().m(), lambda: C().m('1'), lambda: C().m(1), lambda: C.m('1'), lambda: C.m(C(), '1')):
                try:
                    print(type(attempt()))
                except Exception as e:
                    print(type(e))
