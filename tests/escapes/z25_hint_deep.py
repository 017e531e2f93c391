# kind: parse
# tries: a text annotation is nested too deep for the parser
def solution(agent, start_from=1):
    import typing
    def f(a: 'x'): return a
    class T:
        def __getitem__(self, k): return self
        def __or__(self, k): return self
    t = T()
    for text in ('(' * 400 + 't' + ')' * 400, '[' * 180 + ']' * 180, 't' + '[t' * 150 + ']' * 150, '|'.join(['t'] * 480), '-' * 900 + '1', 't[' * 90 + 't' + ']' * 90, '9' * 999, '\x00', '\ud800', "'" * 900, 'f"' + '{' * 400):
        f.__annotations__['a'] = text
        for i in range(3):
            try:
                print(str(typing.get_type_hints(f, {'t': t}))[:60])
            except Exception as e:
                print(repr(e)[:70])
