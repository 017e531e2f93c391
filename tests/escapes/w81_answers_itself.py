# kind: frames
# tries: an answer for the host, and a begun call of a private method
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.BeginFrame(1, '_secret', [], {})))
    os.write(3, frames.pack(frames.AnswerFrame(1, 0.0, 'CANARY')))
    while True:
        os.read(3, 1 << 16)
