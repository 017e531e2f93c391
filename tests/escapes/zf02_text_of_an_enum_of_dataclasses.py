# kind: names
# tries: from Python 3.12 on, the text of an Enum that mixes in a dataclass shows whatever attributes its member's value names as fields; a wrapper that the library made takes such names over from an object of the plan
# a correct runtime must: show the fields of a dataclass alone
def solution(agent, start_from=1):
    import contextlib
    import dataclasses
    import enum
    import functools

    class Shown:
        repr = True

    class Called:
        def __call__(self, *given):
            return 1

    @dataclasses.dataclass
    class Mix:
        x: int = 1

    class E(Mix, enum.Enum):
        A = 1

    called = Called()
    called.__name__ = called.__qualname__ = called.__doc__ = 'called'
    names = ('__globals__', '__code__', '__closure__', '__wrapped__', '__builtins__', '__reduce__')
    try:
        vars(called)['__dataclass_fields__'] = dict.fromkeys(names, Shown())
        for wrap in (contextlib.contextmanager, functools.cache, functools.partial):
            try:
                E.A._value_ = wrap(called)
                text = repr(E.A)
                print('CAN' + 'ARY' if '__globals__' in text or '__closure__' in text or '__reduce__' in text else 'fine', text[:300])
            except (AttributeError, TypeError) as e:
                print(type(e).__name__, e)
        E.A._value_ = called
        print('CAN' + 'ARY' if '__reduce__' in repr(E.A) else 'fine')
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
