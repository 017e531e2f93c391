# kind: names
# tries: the __setattr__ that dataclass makes takes the name by keyword, and writes what belongs to Python
# a correct runtime must: go on, or raise Python's error
def solution(agent, start_from=1):
    from dataclasses import dataclass
    @dataclass(frozen=True)
    class F:
        x: int = 1
    class Below(F):
        pass
    class Other:
        pass
    class Sly(str):
        def __eq__(self, other):
            return False
        def __hash__(self):
            return 1
    b = Below()
    calls = (
        lambda: b.__setattr__(name='__class__', value=Other),
        lambda: F.__setattr__(b, name='__class__', value=Other),
        lambda: Below.__setattr__(self=b, name='__class__', value=Other),
        lambda: F.__setattr__(b, '__class__', value=Other),
        lambda: F.__setattr__(b, '__class__', Other),
        lambda: F.__setattr__(b, Sly('__class__'), Other),
        lambda: super(Below, b).__setattr__(name='__class__', value=Other),
        lambda: b.__setattr__(name='__plan_class__', value=1),
        lambda: F.__setattr__(agent, 'x', 1),
        lambda: F.__setattr__(len, 'x', 1),
        lambda: F.__setattr__(F.__setattr__, 'x', 1),
        lambda: F.__delattr__(b, name='__dict__'),
        lambda: object.__setattr__(b, name='__class__', value=Other),
        lambda: F.__getattribute__(b, name='__class__'),
    )
    for call in calls:
        try:
            call()
            print('called')
        except (TypeError, AttributeError) as e:
            print(type(e).__name__, e)
    try:
        taken = b.__dict__
        names = [name for name in taken if name != 'x']
    except AttributeError:
        names = ['no dict']
    if type(b) is not Below or names:
        print('CAN' + 'ARY', type(b), names)
