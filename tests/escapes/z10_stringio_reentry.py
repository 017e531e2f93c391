# kind: crash
# tries: a stream is closed or resized while it is written
def solution(agent, start_from=1):
    import io
    class S(str):
        def __len__(self):
            return 10 ** 9
    b = io.BytesIO(b"A" * 3000000)
    class L:
        def __iter__(self):
            yield b"x" * 1000
            b.truncate(0)
            b.close()
            yield b"y" * 1000
    for act in (lambda: b.writelines(L()), lambda: io.StringIO().write(S('abc')), lambda: io.BytesIO().write(memoryview(b'abc'))):
        try:
            print(act())
        except Exception as e:
            print(repr(e))
    b = io.BytesIO(b"A" * 100)
    ba = bytearray(100)
    class I:
        def __index__(self):
            b.close()
            return 50
    for act in (lambda: b.read(I()), lambda: b.seek(I()), lambda: b.truncate(I()), lambda: b.readline(I())):
        b = io.BytesIO(b"A" * 100)
        try:
            print(act())
        except Exception as e:
            print(repr(e))
