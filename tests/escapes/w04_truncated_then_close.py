# id: w04_truncated_then_close
# kind: frames
# tries: half a frame, then the end
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    os.write(3, b'\x00\x00\x01\x00' + b'\x92\xabOutputFrame')
    os._exit(0)
