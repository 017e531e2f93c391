# kind: crash
# tries: what bytearray.count looks for empties the bytes
def solution(agent, start_from=1):
    for name in ('count', 'find', 'index', 'rfind', 'rindex'):
        ba = bytearray(b"A" * 3000000)
        class S:
            def __index__(self):
                ba.clear()
                return 66
        try:
            print(getattr(ba, name)(S()))
        except ValueError as e:
            print(repr(e))
