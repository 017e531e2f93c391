# kind: walk
# tries: parts of aliases lead to classes that plans must not have
def solution(agent, start_from=1):
    import typing, collections.abc, types
    seen = set()
    work = [typing.Type[int], typing.Callable[[int], str], typing.Annotated[int, agent, print], typing.Generator, typing.Coroutine[int, int, int], typing.Awaitable[int], typing.IO[str], typing.TextIO, typing.Pattern[str], typing.Match[str], typing.Dict, typing.AsyncGenerator[int, int], typing.Optional[type], type[int], types.GenericAlias(print, (agent,)), types.GenericAlias(int, ()), typing.ClassVar[int], typing.Final[int], typing.Union[int, 'x'], typing.Literal[1, 'a'], typing.Concatenate, typing.Self, typing.Required[int]]
    while work:
        x = work.pop()
        if repr(x) in seen:
            continue
        seen.add(repr(x))
        for name in ('__origin__', '__args__', '__metadata__', '__parameters__', '__bound__', '__forward_arg__', '__mro__', '__bases__', '__dict__', '__class__'):
            try:
                got = getattr(x, name)
            except Exception as e:
                continue
            print(repr(x)[:60], name, repr(got)[:90])
            if isinstance(got, (tuple, list)):
                work.extend(got)
            elif not isinstance(got, dict):
                work.append(got)
