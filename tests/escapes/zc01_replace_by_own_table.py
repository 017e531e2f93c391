# kind: walk
# tries: dataclasses.replace reads any name of an object whose own table hides the class's table of fields
# a correct runtime must: read the fields of the class alone, or raise Python's error
def solution(agent, start_from=1):
    import asyncio
    import dataclasses
    got = []

    class Keeps:
        def __init__(self, **given):
            got.append(given)

    @dataclasses.dataclass(init=False)
    class D(Keeps):
        x: int = 1

    @dataclasses.dataclass(init=False)
    class E(Keeps, Exception):
        x: int = 1

    class Field:
        _field_type, init, default = None, True, None

    def read(owner, name):
        field = Field()
        field.name = name
        owner.__dict__['__dataclass_fields__'] = {'x': field}
        dataclasses.replace(owner)
        print('CAN' + 'ARY', name, got[-1][name])
        return got[-1][name]

    try:
        print('CAN' + 'ARY made', type(read(D(), '__reduce_ex__')(2)[0](asyncio.Future)))
        raise E()
    except E as e:
        print(type(read(e, '__traceback__')))
        read(e, '__setstate__')({'__class__': E, '__plan_class__': 1})
    except (AttributeError, TypeError, KeyError) as e:
        print(type(e).__name__, e)
