# kind: names
# tries: codecs that are not texts, or that load modules
def solution(agent, start_from=1):
    for codec in ("zip", "rot13", "bz2", "uu", "hex_codec", "quopri", "idna", "punycode", "undefined", "mbcs", "os", "..os", "encodings.os", "@SECRET@", "utf-8\0", "x" * 10**6, "\ud800"):
        for use in (lambda: "CANARY".encode(codec), lambda: b"CANARY".decode(codec), lambda: bytearray(b"CANARY").decode(encoding=codec)):
            try:
                print(use())
            except (LookupError, ValueError):
                pass
