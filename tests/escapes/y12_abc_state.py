# kind: dunder
# tries: the state of an abstract class of Python's is given to a class of the plan
# a correct runtime must: refuse to read and to write it
def solution(agent, start_from=1):
    import collections.abc as c
    class M(c.Mapping):
        pass
    class N(c.Sequence):
        pass
    name = '_abc' + '_impl'
    for read in (lambda: getattr(M, name), lambda: getattr(super(M, M), name), lambda: M.__dict__[name], lambda: vars(M)[name], lambda: getattr(M(), name), lambda: object.__getattribute__(M, name), lambda: '{0._abc_impl}'.format(M)):
        try:
            state = read()
        except (AttributeError, KeyError, TypeError):
            continue
        try:
            setattr(N, name, state)
            print('CAN' + 'ARY written', state)
        except (AttributeError, TypeError):
            pass
    try:
        made = type('T', (), {name: 1})
        print('CAN' + 'ARY', made)
    except (AttributeError, TypeError):
        pass
