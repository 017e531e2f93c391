# kind: memory
# tries: a ChainMap sets a signal past the guard, by a value that frees the context meanwhile
# a correct runtime must: keep the context, or refuse the write
def solution(agent, start_from=1):
    from collections import ChainMap
    from decimal import Context, Inexact
    kept = []
    held = []
    class Truth:
        def __bool__(self):
            held.clear()
            kept.extend(bytes(56) for _ in range(500))
            return True
    for _ in range(20):
        held.append(Context())
        chain = ChainMap(held[0].flags)
        try:
            chain[Inexact] = Truth()
        except TypeError as e:
            print(e)
    if any(map(any, kept)):
        print('CAN' + 'ARY bytes of zeros were changed')
