# id: w70_covered_unasked
# kind: wire
# tries: lines that ran, which nobody asked for
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    if start_from <= 1:
        import os, signal
        from codeplan.sandbox import wire
        for s in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU): signal.signal(s, signal.SIG_IGN)
        def send(frame):
            rest = memoryview(wire.pack(frame))
            while rest: rest = rest[os.write(3, rest):]
        def answer():
            n = int.from_bytes(os.read(3, 4), 'big')
            while n: n -= len(os.read(3, min(n, 1 << 20)))

        send(wire.Covered([(0, 1)] * 1000)); send(wire.Call('goto', ['CANARY'], {})); answer()
        assert True

