# id: w33_reply_confusion
# kind: wire
# tries: two requests at once, so that the answers come in another order than they are taken
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    os.write(3, wire.pack(wire.Ask('first')) + wire.pack(wire.Call('goto', ['shelf 1'], {})) + wire.pack(wire.Read('location')))
    print(agent.goto('drawer 1'))
    print(ask('second'))
