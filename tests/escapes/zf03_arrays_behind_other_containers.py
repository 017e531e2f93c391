# kind: crash
# tries: a ChainMap, a UserDict or a UserList over an array writes into it raw: the number empties it while it becomes a float
# a correct runtime must: write numbers alone into arrays, whatever writes, without a crash of the worker
def solution(agent, start_from=1):
    import array
    import collections

    class Number:
        def __float__(self):
            del numbers[1:]
            return 1.0

    def over(kind):
        made = kind()
        made.data = numbers
        return made

    ways = [collections.ChainMap, lambda _: over(collections.UserDict), lambda _: over(collections.UserList)]
    for way in ways:
        numbers = array.array('d', [0.0] * 100_000)
        try:
            way(numbers)[99_999] = Number()
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
            print(type(e).__name__, e)
    print('fine', len(numbers))
