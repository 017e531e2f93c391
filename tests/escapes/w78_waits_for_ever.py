# id: w78_waits_for_ever
# kind: frames
# tries: waits and sleeps of the greatest length, without an open call and with one
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    while True:
        os.write(3, frames.pack(frames.WaitFrame(1e6)))
        os.read(3, 1 << 16)
