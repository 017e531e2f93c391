# id: w17_printed_flood
# kind: frames
# tries: print frames without end, each as large as may be
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    frame = frames.pack(frames.OutputFrame('x' * 60000))
    while True:
        os.write(3, frame)
