# kind: cpu
# tries: tuples of two ints made to collide: xxhash turned round
def solution(agent, start_from=1):
    if start_from <= 1:
        inv, out, a = pow(14029467366897019727, -1, 1 << 64), {}, 0
        M = (1 << 64) - 1
        while True:
            acc = (2870177450012600261 + a * 14029467366897019727) & M
            acc = (((acc << 31) | (acc >> 33)) & M) * 11400714785074694791 & M
            b = (12345 - acc) * inv & M
            if b >> 63: b -= 1 << 64
            if -(1 << 61) + 1 < b < (1 << 61) - 1: out[(a, b)] = None
            a += 1
        assert True

