# id: w42_keyword_names
# kind: frames
# tries: keywords that the host's own code uses, and keys that are no text
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox.protocol import frames
    os.write(3, frames.pack(frames.CallFrame('goto', [], {'self': 'FORGED', 'name': '_reset', 'args': 'FORGED'})))
    body = b'\x94\xa9CallFrame\xa4goto\x90\x81\x01\x02'
    os.write(3, len(body).to_bytes(4, 'big') + body)
