# id: w11_read_private
# kind: wire
# tries: read a private attribute by a frame
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    os.write(3, wire.pack(wire.Read('_secret')))
    print(os.read(3, 1000))
