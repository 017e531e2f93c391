# id: w11_read_private
# kind: frames
# tries: read a private attribute by a frame
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.ReadFrame('_secret')))
    print(os.read(3, 1000))
