# kind: memory
# tries: views of memory outlive their owner, change texts, or read past their end
# a correct runtime must: read and write the plan's own bytes alone
def solution(agent, start_from=1):
    import array, struct
    b = bytearray(b'abcdef')
    class Index:
        def __init__(self, act): self.act = act
        def __index__(self):
            self.act()
            return 0
    for act in (lambda: v.release(), lambda: b.clear(), lambda: b.extend(b'x' * 10 ** 6), lambda: v.__exit__(None, None, None)):
        b = bytearray(b'abcdef' * 1000)
        v = memoryview(b)
        for attempt in (lambda: v[Index(act)], lambda: v.__setitem__(Index(act), 1), lambda: v.__setitem__(0, Index(act)), lambda: v[Index(act):Index(act)], lambda: v.cast('B', (Index(act), 6)), lambda: struct.pack_into('B', v, Index(act), 1), lambda: v.tobytes(Index(act))):
            try:
                got = attempt()
            except (BufferError, ValueError, TypeError, IndexError, AttributeError, NameError, struct.error):
                pass
    for owner in ('text', b'bytes', 5, agent, print, json, array.array('d', [1.5]), memoryview(b'x'), re.compile('a')):
        try:
            v = memoryview(owner)
        except TypeError:
            continue
        for name in ('obj', '_from_flags', 'hex', '__class__', '__reduce_ex__', '__buffer__', '__release_buffer__'):
            try:
                got = getattr(v, name)
                if name != '__class__':
                    print('CAN' + 'ARY', name, got)
            except AttributeError:
                pass
        try:
            v[0] = 0
            if type(owner) is bytes:
                print('CAN' + 'ARY changed', owner)
        except TypeError:
            pass
        for form in ('P', 'O', 'n', 'q', '@q', '1000000000000s', 'B' * 100):
            try:
                print(len(v.cast('B').cast(form)))
            except (TypeError, ValueError):
                pass
    agent.put(memoryview(b'CANARY'), 'shelf 1')
