# kind: frames
# tries: an end inside the body of another frame, and two frames in one length
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
        body = frames.pack(frames.OutputFrame('x' * 10))[4:] + end
        os.write(3, len(body).to_bytes(4, 'big') + body)
        os.write(3, end * 3)
        assert True

