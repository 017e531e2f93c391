# kind: ckpt
# tries: a deque gets another maximum while it is extended, so that it holds more than that: the saved one is not as long as it says
# a correct runtime must: save it, or leave it out, and end the plan as it ends
def solution(agent, start_from=1):
    import collections

    class Items:
        def __iter__(self):
            yield 1
            items.__init__(range(10), 3)
            yield 2

    items = collections.deque(range(100), 100)
    items.extend(Items())
    print(len(items), items.maxlen)
