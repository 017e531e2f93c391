# kind: frames
# tries: frames that belong to another moment: ReadyFrame, StartFrame, CheckpointErrorFrame
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    for frame in (frames.StartFrame(), frames.CheckpointErrorFrame('CAN you see it'), frames.ReadyFrame([])):
        os.write(3, frames.pack(frame))
    while True: pass
