# kind: crash
# tries: what is written to a slice with a step cuts the list while it becomes a list itself: Python writes past its end (fixed in 3.12.5)
# a correct runtime must: end the plan, whatever becomes of its worker's memory; the host goes on
def solution(agent, start_from=1):
    import collections
    import operator

    class Values:
        def __iter__(self):
            del data[10:]
            return iter([None] * 100_000)

    class Own(list):
        pass

    def write(owner):
        owner[::-1] = Values()

    ways = [write, lambda owner: operator.setitem(owner, back, Values()), lambda owner: list.__setitem__(owner, back, Values())]
    back = slice(None, None, -1)
    for way in ways:
        for kind in (list, Own, collections.UserList):
            try:
                made = kind([0] * 100_000)
                data = made.data if kind is collections.UserList else made
                way(made)
            except (AttributeError, IndexError, TypeError, ValueError) as e:
                print(type(e).__name__, e)
    print('fine')
