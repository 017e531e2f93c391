# kind: walk
# tries: the names that plans may newly read lead from any value to classes, functions and modules
# a correct runtime must: give plain parts alone
def solution(agent, start_from=1):
    import typing, types, uuid, decimal, pathlib, fractions, datetime, csv, io, collections, json, functools, asyncio, re, dataclasses, hashlib
    T = typing.TypeVar('T')
    class G(typing.Generic[T]):
        pass
    @dataclasses.dataclass
    class D:
        x: int = 1
    class S(str):
        def f(self):
            return super().__getnewargs__
    values = [agent, json, print, len, G, G(), G[int], D, D(), list[T], list[int], dict[str, T] | None, typing.Optional[T], typing.Callable[[T], int], T, typing.Annotated[T, agent], uuid.uuid4(), decimal.Decimal(1), decimal.getcontext(), decimal.getcontext().traps, pathlib.Path('/a'), pathlib.PureWindowsPath('a'), fractions.Fraction(1), datetime.date(1, 1, 1), csv.get_dialect('excel'), csv.excel, csv.excel(), io.StringIO(), 'a', 5, b'a', (1,), S('a'), S('a').f(), re.compile('a'), asyncio.Future, hashlib.md5(), functools.partial(print), type, object, Exception('a'), types.GenericAlias(json, (agent,)), types.GenericAlias(print, ()), iter([]), (i for i in [1]), D.__dataclass_params__]
    plain = (str, int, bool, float, bytes, type(None))
    for value in values:
        for name in ('__parameters__', '__dataclass_params__', '__defaults__', '__kwdefaults__', '__fspath__', '__getnewargs__'):
            try:
                got = getattr(value, name)
            except (AttributeError, TypeError):
                continue
            for inner in ('__self__', '__func__', '__globals__', '__code__', '__objclass__', '__wrapped__', '__dict__', '__class__', '__reduce__', '__module__', 'gi_frame'):
                try:
                    part = getattr(got, inner)
                except (AttributeError, TypeError):
                    continue
                if inner not in ('__dict__', '__class__', '__module__'):
                    print('CAN' + 'ARY', name, inner, part)
            for each in got if isinstance(got, tuple) else ():
                if each is not T and not isinstance(each, plain):
                    print('CAN' + 'ARY', name, each)
    for write in (lambda: setattr(D, '__dataclass_params__', 1), lambda: setattr(D.__dataclass_params__, 'frozen', True), lambda: setattr(G, '__parameters__', ()), lambda: setattr(list[int], '__args__', ()), lambda: setattr(T, '__bound__', 1)):
        try:
            write()
            print('CAN' + 'ARY written')
        except (AttributeError, TypeError):
            pass
