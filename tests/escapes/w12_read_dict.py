# id: w12_read_dict
# kind: frames
# tries: read __dict__ and __class__ by a frame
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.ReadFrame('__dict__')))
    print(os.read(3, 1000))
