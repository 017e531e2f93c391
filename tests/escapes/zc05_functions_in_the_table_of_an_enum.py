# kind: class
# tries: an Enum's table shows object.__new__, and Flag.__or__, which calls the class of a class: Python's type, and all that follows
# a correct runtime must: show the guarded ones
def solution(agent, start_from=1):
    import asyncio
    import enum

    class F(enum.Flag):
        A = 1

    held = []

    class Value:
        def __or__(self, other):
            return held[-1]

    class Left:
        _value_ = Value()

    class Right:
        _value_ = 1

    def of_any(thing):
        held.append(thing)
        return vars(F)['__or__'](Left, Right)

    try:
        print('CAN' + 'ARY made', type(vars(F)['_new_member_'](asyncio.Future)))
    except (AttributeError, TypeError, KeyError) as e:
        print(type(e).__name__, e)
    try:
        print('CAN' + 'ARY', of_any(agent))
        kind = of_any(Left)
        M = kind('M', (kind,), {'__plan_class__': True})
        every = M.__subclasses__(object)
        get = [k for k in every if k.__name__ == 'attrgetter'][0]
        print('CAN' + 'ARY', sorted(get('__globals__')(print)))
    except (AttributeError, TypeError, KeyError, IndexError) as e:
        print(type(e).__name__, e)
