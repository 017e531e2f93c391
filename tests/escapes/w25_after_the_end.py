# id: w25_after_the_end
# kind: wire
# tries: say the end, and go on: calls after it, a second end
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    empty = wire.Table({}, [], {})
    os.write(3, wire.pack(wire.End('finished', None, None, '', '', 0.0, 0.0, empty)) + wire.pack(wire.Call('goto', ['FORGED'], {})) * 10)
    while True: pass
