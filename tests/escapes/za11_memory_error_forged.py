# kind: walk
# tries: the plan's MemoryError leads to Python's, or makes another end look like it
# a correct runtime must: show exceptions of the plan alone
def solution(agent, start_from=1):
    for name in ('__subclasses__', '__reduce__', '__init_subclass__', '__new__', '__dict__', '__base__', '__bases__', '__setstate__', '__traceback__', '__globals__'):
        for owner in (MemoryError, MemoryError('x'), type(MemoryError('x'))):
            try:
                got = getattr(owner, name)
            except (AttributeError, TypeError):
                continue
            if name in ('__subclasses__', '__reduce__', '__setstate__', '__traceback__', '__globals__'):
                print('CAN' + 'ARY', name, got)
    try:
        MemoryError.__name__ = 'Exception'
        print('CAN' + 'ARY renamed')
    except (AttributeError, TypeError):
        pass
    try:
        try:
            [1] * (2**62)
        except MemoryError as e:
            raise KeyError from e
    except KeyError as e:
        print(type(e.__cause__) is MemoryError, isinstance(e.__cause__, Exception))
    raise MemoryError('mine')
