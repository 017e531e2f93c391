# id: w73_colliding_map
# kind: frames
# tries: a call whose argument is a map of the frame's own, its keys tuples that all have one hash: quadratic within the decoder, where no clock is looked at
# a correct runtime must: take the frame for what it is (a broken protocol, or a request that is counted and checked like any other), end the worker, go on
# layer: cage
def solution(agent, start_from=1):
    import os, signal
    from codeplan.sandbox.protocol import frames
    for timer in (signal.SIGALRM, signal.SIGPROF): signal.signal(timer, signal.SIG_IGN)
    word, inverse, keys, first = (1 << 64) - 1, pow(14029467366897019727, -1, 1 << 64), [], 0
    while len(keys) < 80_000:
        lane = (2870177450012600261 + first * 14029467366897019727) & word
        lane = ((lane << 31 | lane >> 33) & word) * 11400714785074694791 & word
        second = (1 - lane) * inverse & word
        second -= second >> 63 << 64
        if abs(second) < (1 << 61) - 1: keys.append((first, second))
        first += 1
    pairs = b''.join(frames.pack(key)[4:] + b'\xc0' for key in keys)
    body = b'\x94\xa9CallFrame\xa4goto\x91\xdf' + len(keys).to_bytes(4, 'big') + pairs + b'\x80'
    rest = len(body).to_bytes(4, 'big') + body
    while rest: rest = rest[os.write(3, rest):]
    while True: pass
