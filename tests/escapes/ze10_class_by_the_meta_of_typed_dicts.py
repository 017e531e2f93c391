# kind: dunder
# tries: the __new__ that a TypedDict has from its metaclass makes a class of any table: a finaliser, a forged mark, tables of fields
# a correct runtime must: show no __new__ of a metaclass
def solution(agent, start_from=1):
    import dataclasses
    import typing

    class X(typing.TypedDict):
        a: int

    class Any:
        default, default_factory, init, name = dataclasses.MISSING, dataclasses.MISSING, True, '__reduce_ex__'
        _field_type = None

    try:
        new = object.__getattribute__(X, '__new__')
        table = {'__plan_class__': True, '__del__': lambda self: print('CAN' + 'ARY a finaliser runs')}
        Y = new(X, 'Y', (), table)
        y = dict.__new__(Y)
        del y
        Z = new(X, 'Z', (), {'__plan_class__': True, '__dataclass_fields__': {'a': Any}})
        z = dict.__new__(Z)
        made = dataclasses.replace(z)['__reduce_ex__'](2)
        print('CAN' + 'ARY', made)
    except (AttributeError, TypeError, KeyError) as e:
        print(type(e).__name__, e)
