# kind: format
# tries: id and hash of functions, of None and of nested values tell addresses
def solution(agent, start_from=1):
    big = [abs(n) for n in (id([]), hash(print), hash(None), hash(agent), hash((None, (print,))), hash(frozenset([print])), hash(len), hash(int), hash("a".upper))]
    first = big[1]
    if any(2**40 < n < 2**48 for n in big): print("CANARY-ADDRESS", big)
