# id: w18_printed_trickle
# kind: frames
# tries: print frames of one character without end
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    flood = frames.pack(frames.OutputFrame('x')) * 1000
    while True:
        os.write(3, flood)
