# kind: crash
# tries: the number that bisect inserts into an array empties it while it becomes a float; append and __setitem__ by other ways as well
# a correct runtime must: make the number first, without a crash of the worker
def solution(agent, start_from=1):
    import array
    import bisect

    class Number:
        def __lt__(self, other):
            return False

        def __gt__(self, other):
            return False

        def __float__(self):
            del numbers[1:]
            return 1.0

    ways = [
        lambda: bisect.insort(numbers, Number()),
        lambda: numbers.append(Number()),
        lambda: array.array.append(numbers, Number()),
        lambda: numbers.__setitem__(99_999, Number()),
        lambda: numbers.extend([Number()]),
        lambda: numbers.fromlist([Number()]),
        lambda: array.array('d', [Number()]),
    ]
    for way in ways:
        numbers = array.array('d', [0.0] * 100_000)
        try:
            way()
        except (AttributeError, IndexError, TypeError, ValueError) as e:
            print(type(e).__name__, e)
    print('fine', len(numbers))
