# kind: frames
# tries: print frames without end, each as large as may be
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    frame = frames.pack(frames.OutputFrame('x' * 60000))
    while True:
        os.write(3, frame)
