# kind: names
# tries: TypedDict, NamedTuple and Enum over annotations whose keys are code
def solution(agent, start_from=1):
    import typing, enum
    N = typing.NamedTuple
    for act in (lambda: type('N', (N,), {'__annotations__': {"a=print(1)": int}}), lambda: N('N', [("a, b", int)]), lambda: type('T', (typing.TypedDict,), {'__annotations__': {"a b": int}}), lambda: type('P', (typing.Protocol,), {'__annotations__': {5: int}})):
        try:
            print(act())
        except Exception as e:
            print(repr(e)[:90])
    class S(str):
        def isidentifier(self): return True
        def __str__(self): return self
    class X(N):
        __annotations__ = {S("a=print('CAN'+'ARY')"): int}
    print(X)
