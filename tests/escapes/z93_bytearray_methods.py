# kind: crash
# tries: other methods of bytearray while an argument empties it
def solution(agent, start_from=1):
    class S:
        def __index__(self):
            ba.clear()
            return 65
    class L:
        def __init__(self): self.n = 0
        def __iter__(self):
            for i in range(300):
                ba.clear()
                yield 65
    for act in (lambda: ba.extend(L()), lambda: ba.append(S()), lambda: ba.insert(S(), 1), lambda: ba.insert(5, S()), lambda: ba.remove(S()), lambda: ba.pop(S()), lambda: ba.__setitem__(S(), 5), lambda: ba.__setitem__(2999999, S()), lambda: ba[S()], lambda: ba[S():S()], lambda: ba.find(b'B', S()), lambda: ba.startswith(b'A', S()), lambda: ba.replace(b'A', b'B', S()), lambda: ba.split(b'B', S()), lambda: ba.ljust(S()), lambda: ba.expandtabs(S()), lambda: ba.join(L())):
        ba = bytearray(b'A' * 3000000)
        try:
            print(str(act())[:40])
        except Exception as e:
            print(repr(e)[:80])
    def put(i, v): ba[i] = v
    for i, v in ((S(), 5), (2999999, S()), (slice(S(), 2999999), b'x'), (slice(0, 2999999, 2), L())):
        ba = bytearray(b'A' * 3000000)
        try:
            put(i, v)
        except Exception as e:
            print(repr(e)[:80])
