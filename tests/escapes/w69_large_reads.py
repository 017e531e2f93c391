# kind: frames
# tries: an attribute is made as large as may be and read as often as may be: packing it is the host's work, not the agent's
# layer: cage
def solution(agent, start_from=1):
    import os, signal
    from codeplan.sandbox.protocol import frames
    for timer in (signal.SIGALRM, signal.SIGPROF): signal.signal(timer, signal.SIG_IGN)
    def say(frame):
        rest = frames.pack(frame)
        while rest: rest = rest[os.write(3, rest):]
        length = int.from_bytes(os.read(3, 4), 'big')
        while length: length -= len(os.read(3, length))
    say(frames.CallFrame('take', [['list', *[['tuple'] for _ in range(7900)]], 'x'], {}))
    for _ in range(20000): say(frames.ReadFrame('holding'))
