# kind: crash
# tries: the number that is written into an array empties it while it becomes a float: Python writes past its end
# a correct runtime must: make the number first, without a crash of the worker
def solution(agent, start_from=1):
    import array

    class Number:
        def __float__(self):
            del numbers[1:]
            return 1.0

    def write():
        numbers[99_999] = Number()

    def insert():
        numbers.insert(99_999, Number())

    for way in (write, insert):
        numbers = array.array('d', [0.0] * 100_000)
        try:
            way()
        except (IndexError, TypeError, ValueError) as e:
            print(type(e).__name__, e)
    print('fine', len(numbers))
