# id: w40_hostile_arguments
# kind: wire
# tries: arguments in forms that no plan can send: bad hex, odd dicts, keys that cannot be hashed
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os
    from codeplan.sandbox import wire
    for args in ([['int', 'zz']], [['int', '0x' + 'f' * 10**5]], [['text', 'd8']], [['dict', 1]], [['dict', ['list'], 1]], [['evil']], [[]], [{}], [['int']], [['dict', ['tuple', ['list']], 1]]):
        os.write(3, wire.pack(wire.Call('goto', args, {})))
    while True: pass
