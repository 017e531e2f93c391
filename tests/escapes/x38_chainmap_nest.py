# kind: crash
# tries: ChainMaps of ChainMaps, deep
def solution(agent, start_from=1):
    from collections import ChainMap
    c = ChainMap({})
    for _ in range(10**5):
        c = ChainMap(c)
    try:
        print(c.get("x"), len(c), repr(c))
    except RecursionError:
        pass
    c.maps[0]["x"] = 1
