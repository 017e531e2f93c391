# kind: class
# tries: a name that means something to Python, put into an object's table, changes the class of a copy to one of the runtime
# a correct runtime must: copy the table as it is
def solution(agent, start_from=1):
    import asyncio, collections, copy, csv, threading, types
    class H:
        def __init__(self, **named):
            self.__dict__.update(named)
    class E(Exception):
        pass
    class Odd(str):
        pass
    kinds = [asyncio.Future, asyncio.Task, asyncio.Event, threading.Event, threading.Thread, csv.Dialect, types.SimpleNamespace, collections.UserDict, Exception]
    for kind in kinds:
        for key in ('__class__', Odd('__class__')):
            for made in (H(), E('a')):
                made.__dict__[key] = kind
                made.__dict__['_scheduler'] = made.__dict__['_writers'] = H()
                for copied in (copy.copy, copy.deepcopy, lambda x: copy.deepcopy([x])[0], lambda x: copy.copy(copy.copy(x))):
                    try:
                        got = copied(made)
                        if type(got) is not type(made):
                            print('CAN' + 'ARY', type(got))
                    except (TypeError, AttributeError, RuntimeError) as e:
                        print(type(e).__name__, e)
    for key in ('__dict__', '__plan_class__', '__weakref__', '__slots__'):
        h = H()
        h.__dict__[key] = {'x': 1}
        try:
            if copy.copy(h).__dict__.get(key) != {'x': 1}:
                print('CAN' + 'ARY', key)
        except (TypeError, AttributeError) as e:
            print(type(e).__name__, e)
