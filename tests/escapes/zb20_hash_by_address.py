# kind: walk
# tries: hashes of weak references, unions, aliases and of a dataclass's own method tell addresses, other in a replay
# a correct runtime must: hash by numbers of its own
def solution(agent, start_from=1):
    import dataclasses, typing, weakref
    @dataclasses.dataclass(frozen=True)
    class D:
        x: object
    class K:
        pass
    class Below(D):
        def __hash__(self):
            return super().__hash__()
    k = K()
    d = D(k)
    if hash(weakref.ref(k)) > 10**6:
        print('CAN' + 'ARY', hash(weakref.ref(k)))
    if not hash(d) == D.__hash__(d) == d.__hash__() == hash(Below(k)):
        print('CAN' + 'ARY by its method', D.__hash__(d))
    print(hash(K | None), hash(typing.List[K]), hash(typing.Annotated[K, 1]))
