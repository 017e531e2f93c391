# kind: class
# tries: annotations whose keys are code, or become code while the fields are made
def solution(agent, start_from=1):
    from dataclasses import dataclass
    text = "__class__ if 0 else __import__('sys').modules"
    class Name(str):
        turns = 0
        def __format__(self, spec):
            Name.turns += 1
            return text if Name.turns > 3 else 'q'
    class Swaps:
        def __get__(self, owner, kind=None):
            kind.__annotations__.pop('later', None)
            kind.__annotations__[text] = int
            return 1
    class Written:
        __annotations__ = {text: int}
    class Set: pass
    setattr(Set, '__annotations__', {Name('q'): int})
    class Grown:
        x: int
    Grown.__annotations__[text] = int
    class Swapped:
        x: int = Swaps()
        later: int
    for kind in (Written, Set, Grown, Swapped, type('Made', (), {'__annotations__': {Name('q'): int}})):
        for options in ({}, {'init': False, 'eq': False}, {'order': True}, {'frozen': True}, {'slots': True}):
            try:
                made = dataclass(**options)(kind)
                print('CAN' + 'ARY' if 'builtins' in repr(made()) else '')
            except Exception as e:
                print(type(e))
