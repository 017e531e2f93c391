# kind: frames
# tries: cancelling what is answered, asking while calls are open, and ending with open calls
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    for n in (1, 2, 3):
        os.write(3, frames.pack(frames.BeginFrame(n, 'goto', ['shelf 1'], {})))
    os.write(3, frames.pack(frames.AskFrame('why?')))
    os.read(3, 1 << 16)
    os.write(3, frames.pack(frames.CancelFrame(2)))
    os.read(3, 1 << 16)
    os.write(3, frames.pack(frames.EndFrame('finished', None, None, '', '', 0.0, 0.0, frames.CheckpointTable({}, [], {}))))
