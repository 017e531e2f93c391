# kind: walk
# tries: the types of aliases, and what they let through to their origin
# a correct runtime must: show what the plan gave alone
def solution(agent, start_from=1):
    import types, typing, json, collections.abc, operator, datetime
    A, U = type(list[int]), type(int | str)
    class K:
        secret = 1
        def __init_subclass__(cls):
            pass
        @classmethod
        def make(cls):
            return cls
    aliases = [A(agent, (1,)), A(json, (1,)), A(print, ()), A(K, (agent,)), A(type, (1,)), A(dict, ()), A(A, ()), A(K(), ()), A(datetime.datetime, ()), A(datetime.date, ()), A(int, ()), A(bool, ()), A(object, ()), A(Exception, ()), typing.Type[int], typing.Annotated[K, 1], collections.abc.Callable[[int], str], list[int], int | str, U]
    for alias in aliases:
        for name in ('__dict__', '__init__', '__call__', '__class__', '__self__', '__globals__', '__reduce__', '__reduce_ex__', '__mro_entries__', '__subclasses__', '__getattribute__', '__setattr__', '__unpacked__', '__code__', 'members', 'goto', 'report', '_name', 'now', 'today', 'utcnow', 'from_bytes', 'fromtimestamp', '_subclasses', '_abc_impl', 'mro'):
            try:
                got = operator.attrgetter(name)(alias)
            except (AttributeError, TypeError):
                continue
            if name not in ('fromtimestamp', 'mro', '__class__', '__dict__', '__init__', '__call__', '__setattr__', '__getattribute__', '__subclasses__'):
                print('CAN' + 'ARY', name, got)
            if name == "__class__" and got not in (A, U, type, typing.Callable, object):
                print(got)
    for attempt in (lambda: A.__new__(A, agent, ()), lambda: A.__init__(1), lambda: U(), lambda: A(agent, (1,))(), lambda: A(print, (1,))('x'), lambda: setattr(A, 'x', 1), lambda: setattr(list[int], 'x', 1)):
        try:
            print(type(attempt()).__name__)
        except (AttributeError, TypeError) as e:
            print(type(e).__name__)
    try:
        class M(A):
            pass
        print('CAN' + 'ARY', M)
    except TypeError:
        pass
