# id: w32_host_frames
# kind: wire
# tries: send the host its own frames: Answer, Raised, RunJob
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    os.write(3, wire.pack(wire.Answer('FORGED')) + wire.pack(wire.Raised('FORGED')) + wire.pack(wire.Setup(1, 1.0, 1.0)))
    while True: pass
