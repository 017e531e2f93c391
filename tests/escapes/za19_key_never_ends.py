# kind: cpu
# tries: a key whose work no limit bounds: numbers that lie about their size, and calls again and again
def solution(agent, start_from=1):
    import hashlib
    class Big(int):
        def __mul__(self, other):
            return 0
        __rmul__ = __lt__ = __gt__ = __neg__ = __floordiv__ = __mul__
        def __int__(self):
            return 1
        __index__ = __trunc__ = __int__
    class Index:
        def __index__(self):
            return 10**15
    class Name(str):
        def __eq__(self, other):
            return False
        def __hash__(self):
            return 1
        def lower(self):
            return 'md5'
        def __str__(self):
            return 'md5'
    for name in ('sha512', Name('sha512'), 'SHA512', 'sha3_512', 'shake_256', 'no such'):
        for iterations, length in ((Big(10**15), None), (Index(), None), (10**15, 1), (1000, Big(10**12)), (1, Index()), (1, 2**62), (2**62, 2**62), (-1, 5), (True, True)):
            try:
                print(len(hashlib.pbkdf2_hmac(name, b'a' * 1000, b'b' * 1000, iterations, length)))
            except (ValueError, TypeError, OverflowError, AttributeError) as e:
                print(type(e).__name__)
    while True:
        hashlib.pbkdf2_hmac('sha512', b'a', b'b', 100_000)
