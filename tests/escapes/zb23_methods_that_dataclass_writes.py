# kind: names
# tries: the methods that dataclass writes take objects of the runtime, and read, write or hash attributes of any name
# a correct runtime must: go on, or raise Python's error
def solution(agent, start_from=1):
    import asyncio, contextlib, dataclasses, inspect, io, operator, sys, threading
    from dataclasses import dataclass, fields
    class Other:
        pass
    class Base:
        pass
    def attack(F, thing, name):
        doors = [
            lambda: F.__init__(thing, [1]),
            lambda: F.__init__(**{'self': thing, name: [1]}),
            lambda: F.__dict__['__init__'](thing, [1]),
            lambda: vars(F)['__init__'](thing, [1]),
            lambda: dict(inspect.getmembers(F))['__init__'](thing, [1]),
            lambda: operator.attrgetter('__init__')(F)(thing, [1]),
            lambda: super(F, F).__init__(thing, [1]),
            lambda: object.__getattribute__(F, '__init__')(thing, [1]),
            lambda: F.__dict__['__setattr__'](thing, name, [1]),
            lambda: F.__setattr__(thing, name, [1]),
            lambda: F.__dict__['__delattr__'](thing, name),
            lambda: F.__dict__['__setstate__'](thing, [[1]]),
            lambda: dataclasses.replace(thing, **{name: [1]}),
        ]
        for door in doors:
            try:
                door()
                print('CAN' + 'ARY wrote', name, type(thing))
            except (TypeError, AttributeError, KeyError) as e:
                print(type(e).__name__, e)
        for shows in (lambda: F.__repr__(thing), lambda: F.__dict__['__repr__'](thing), lambda: F.__dict__['__hash__'](thing), lambda: F.__hash__(thing), lambda: F.__dict__['__getstate__'](thing)):
            try:
                text = str(shows())
                if name in text:
                    print('CAN' + 'ARY read', text)
            except (TypeError, AttributeError, KeyError) as e:
                print(type(e).__name__, e)
    async def main():
        loop = asyncio.get_running_loop()
        things = {'_done': asyncio.Future(), '_scheduler': asyncio.create_task(asyncio.sleep(0)), '_module': loop, '_flag': threading.Event(), '_exit_callbacks': contextlib.ExitStack(), '_writers': sys.stdout}
        for name, thing in things.items():
            for options in ({}, {'frozen': True}, {'frozen': True, 'slots': True}, {'unsafe_hash': True}):
                class F:
                    pass
                F.__annotations__ = {name: object}
                attack(dataclass(**options)(F), thing, name)
                attack(dataclasses.make_dataclass('M', [name], **options), thing, name)
        print(things['_done'].done())
    asyncio.run(main())
    for name in ('__class__', '__plan_class__', '__dict__', '_abc_impl', '__slots__', 'gi_frame', '_guard_'):
        for options in ({}, {'frozen': True}):
            class D:
                pass
            D.__annotations__ = {name: object}
            try:
                made = dataclass(**options)(D)(Other)
                print('CAN' + 'ARY field', name, type(made))
            except (TypeError, AttributeError, ValueError) as e:
                print(type(e).__name__, e)
