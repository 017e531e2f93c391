# kind: frames
# tries: send the host its own frames: ResultFrame, ErrorFrame, RunJob
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.ResultFrame('FORGED')) + frames.pack(frames.ErrorFrame('FORGED')) + frames.pack(frames.SetupFrame(1, 1.0, 1.0)))
    while True: pass
