# kind: crash
# tries: a bytearray that is changed while it is joined, extended and searched
def solution(agent, start_from=1):
    b = bytearray(b"a" * 1000)
    def grow(n):
        b.clear()
        return 65
    for use in (lambda: b.extend(grow(i) for i in range(100)), lambda: b.join([b, b]), lambda: b.__init__ if False else b.extend(b), lambda: b.translate(bytes(256), b)):
        b[:] = b"a" * 1000
        try:
            use()
        except (ValueError, BufferError, RuntimeError):
            pass
