# kind: class
# tries: what annotations hold is written, so that signatures and dataclasses run it
# a correct runtime must: treat it as data of the plan
def solution(agent, start_from=1):
    import inspect, typing
    from dataclasses import dataclass, fields
    class Text(str):
        def __eq__(self, other): return True
        def __hash__(self): return 1
        def strip(self): return '().__class__'
        def __len__(self): return 1
    def f(a: int, *b, c=1) -> None: return a
    f.__annotations__[Text('a')] = Text('__import__("os").system("touch @MARKER@")')
    f.__annotations__['return'] = Text('x')
    f.__annotations__['b'] = agent
    for read in (lambda: inspect.signature(f), lambda: str(inspect.signature(f)), lambda: typing.get_type_hints(f), lambda: inspect.signature(f).parameters['b'].annotation.goto('desk 1')):
        try:
            print(read())
        except Exception as e:
            print(type(e).__name__)
    for write in ({1: 2}, [], agent, None):
        try:
            f.__annotations__ = write
            print('CAN' + 'ARY written')
        except Exception as e:
            print(type(e).__name__)
    @dataclass
    class D:
        x: Text('typing.ClassVar[int]')
        y: '__import__("os").system("touch @MARKER@")'
    print([n.name for n in fields(D)], inspect.signature(D))
