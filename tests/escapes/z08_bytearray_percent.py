# kind: crash
# tries: formatting of bytes that an argument empties
def solution(agent, start_from=1):
    ba = bytearray(b"%r" + b"A" * 3000000)
    class S:
        def __repr__(self):
            ba.clear()
            return 'x'
    print((ba % (S(),))[:10])
