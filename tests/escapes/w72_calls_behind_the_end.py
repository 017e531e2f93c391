# kind: frames
# tries: actions piled up behind an end in one write
# layer: cage
def solution(agent, start_from=1):
    if start_from <= 1:
        import os, signal
        from codeplan.sandbox.protocol import frames
        for s in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU): signal.signal(s, signal.SIG_IGN)
        def send(frame):
            rest = memoryview(frames.pack(frame))
            while rest: rest = rest[os.write(3, rest):]
        def answer():
            n = int.from_bytes(os.read(3, 4), 'big')
            while n: n -= len(os.read(3, min(n, 1 << 20)))

        end = frames.pack(frames.EndFrame('finished', None, None, '', '', 0.0, 0.0, frames.CheckpointTable({}, [], {})))
        os.write(3, end + frames.pack(frames.CallFrame('goto', ['CANARY'], {})) * 200)
        assert True

