# kind: exec
# tries: typing compiles forward references of texts
def solution(agent, start_from=1):
    import typing
    for text in ("print('CANARY-EXEC')", "__import__('os')", '(' * 5000, '-' * 20000 + '1', 'a.' * 20000 + 'a', '[' * 300 + ']' * 300):
        for make in (lambda t: typing.List[t], lambda t: typing.Optional[t], lambda t: typing.TypedDict('T', {'a': t}), lambda t: typing.NamedTuple('N', [('a', t)]), lambda t: typing.Union[t, int]):
            try:
                make(text)
                print('made')
            except Exception as e:
                print(type(e).__name__)
