# kind: class
# tries: singledispatch registers over what is no plain class
def solution(agent, start_from=1):
    import functools
    from collections.abc import Mapping
    from typing import Union
    @functools.singledispatch
    def f(x): return 'default'
    for k in (object, type, Mapping, int | str, list[int], Union[int, str], agent, print, type(None), 5):
        try:
            f.register(k, lambda x: 'k')
        except Exception as e:
            print(repr(e)[:80])
    print(f(agent), f(print), f(f), f.dispatch(int), f.registry if hasattr(f, 'registry') else None)
    class M(type(Mapping) if False else object): pass
