# kind: walk
# tries: a dataclass made by a call has a field called mro, whose default is the method of the metaclass: called at a member of an Enum, it tells Python's own Enum, which makes any class
# a correct runtime must: refuse such a field, as it does in a class statement, or show the plan's own classes alone
def solution(agent, start_from=1):
    import dataclasses
    import enum

    class Base(enum.Enum):
        pass

    try:
        Made = dataclasses.make_dataclass('Made', ['mro'], bases=(Base,), eq=False, repr=False)

        class Last(Made):
            A = ()

        for kind in Last.A.mro():
            if kind not in (Last, Made, Base, enum.Enum, object):
                own = kind('Own', {'__reduce_ex__': 1, '__del__': 2, '__class__': 3})
                print('CAN' + 'ARY', kind, own, [*own], kind is enum.Enum)
    except (AttributeError, TypeError, ValueError) as e:
        print('fine', type(e).__name__, e)
