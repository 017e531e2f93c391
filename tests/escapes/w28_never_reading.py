# id: w28_never_reading
# kind: wire
# tries: thousands of calls whose answers are never read: the host's buffer fills up
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    frames = wire.pack(wire.Call('look', [], {})) * 100
    while True:
        os.write(3, frames)
