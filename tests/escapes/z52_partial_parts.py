# kind: class
# tries: parts of partials are changed or lead to runtime functions
def solution(agent, start_from=1):
    import functools
    p = functools.partial(print, 'a', sep='')
    p.keywords['file'] = agent
    for act in (lambda: p(), lambda: p.func, lambda: p.args, lambda: setattr(p, 'func', 5), lambda: getattr(p, '__setstate__')((print, (), {}, {})), lambda: getattr(p, '__reduce__')(), lambda: functools.partial.__new__(functools.partial, print), lambda: getattr(functools.partial, '__setstate__'), lambda: p.__dict__, lambda: functools.partial('a'.format, x=agent).func, lambda: functools.partial(functools.partial(print, 1), 2).func, lambda: 'a'.encode.func, lambda: functools.partial('a'.encode, 'punycode').func.func):
        try:
            print(repr(act())[:90])
        except Exception as e:
            print(repr(e)[:90])

    class Q(functools.partial):
        pass
