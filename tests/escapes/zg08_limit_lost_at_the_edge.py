# kind: swallow
# tries: a generator that fills the memory goes where no further call fits: what notes the lost limit raises RecursionError, and Python drops both
# a correct runtime must: end the plan with the limit
def solution(agent, start_from=1):
    held, ran = [], []

    def fill():
        try:
            yield 1
        finally:
            ran.append(1)
            bytes(size)
            ran.append(2)

    def deep(left):
        if left:
            return deep(left - 1)
        held.pop()
        return 1

    def drop(depth):
        held[:], ran[:] = [fill()], []
        next(held[0])
        try:
            deep(depth)
        except RecursionError:
            held.clear()
            ran.clear()
        return ran == [1, 2]

    size, edge = 10, 1100
    while not drop(edge):
        edge -= 1
    size = 10**15
    drop(edge)
    print('CAN' + 'ARY goes on after a limit' if ran == [1] else 'fine', edge)
