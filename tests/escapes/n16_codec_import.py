# kind: walk
# tries: a codec's name makes Python import a module: of a file, by str(), bytes() and encode
def solution(agent, start_from=1):
    for codec in ('rot13', 'zlib', 'hex', 'idna', 'unicode_escape', 'utf-7', '@SECRET@', 'mbcs', 'x' * 10000):
        for use in (lambda: 'CANARY'.encode(codec), lambda: str(b'x', codec), lambda: bytes('x', codec), lambda: b'x'.decode(codec)):
            try:
                use()
            except (LookupError, ValueError, TypeError, OSError):
                pass
