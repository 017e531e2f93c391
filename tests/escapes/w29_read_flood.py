# id: w29_read_flood
# kind: frames
# tries: thousands of reads of an attribute, none of their answers is read
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    flood = frames.pack(frames.ReadFrame('receptacles')) * 1000
    while True:
        os.write(3, flood)
