# kind: walk
# tries: globals leads to the guards, the builtins and the variables of the runtime
# a correct runtime must: show the plan's own variables to read
def solution(agent, start_from=1):
    here = globals()
    for name in ('__builtins__', '_getattr_', '_write_', '_keep_', 'agent', 'solution', 'print', '_turns_', '__name__', '__loader__', '_segment_', '_modules_'):
        try:
            print('CAN' + 'ARY', here[name])
        except KeyError:
            pass
    for write in (lambda: here.__setitem__('agent', 1), lambda: here.update(agent=1), lambda: here.clear(), lambda: here.copy().update(print=1), lambda: dict.__setitem__(here, 'x', 1), lambda: dict.update(here, x=1), lambda: setattr(here, 'x', 1), lambda: here.__ior__({'x': 1}), lambda: here | {'agent': 1}, lambda: vars()['agent']):
        try:
            write()
        except (AttributeError, TypeError, KeyError):
            pass
    class Evil:
        def __eq__(self, other):
            other['_getattr_'] = getattr
            return True
        def __ror__(self, other):
            other['agent'] = other['print'] = other['_getattr_'] = getattr
            return other
    try:
        here == Evil()
    except TypeError:
        pass
    here | Evil()
    print(sorted(n for n in here if n.startswith('_')), list(map(globals, ())), [f() for f in (globals,)][0].keys())
    print(agent.report())
