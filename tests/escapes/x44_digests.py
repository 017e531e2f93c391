# kind: mem
# tries: digests, tokens and random bytes of a billion bytes
def solution(agent, start_from=1):
    import hashlib, secrets, random
    for make in (lambda: hashlib.shake_128(b"a").digest(10**10), lambda: secrets.token_bytes(10**10), lambda: random.randbytes(10**10), lambda: secrets.randbits(10**11)):
        print(len(make()))
