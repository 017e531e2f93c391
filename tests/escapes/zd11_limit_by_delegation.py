# kind: swallow
# tries: the same by a decorator: the object to which the generator delegates hides a limit
# a correct runtime must: end the plan with the limit
def solution(agent, start_from=1):
    import contextlib

    class Own:
        def __iter__(self):
            return self

        def __next__(self):
            return 1

        def throw(self, *error):
            raise StopIteration

    @contextlib.contextmanager
    def delegates():
        yield from Own()

    @delegates()
    def fill():
        return list(bytearray(10**15))

    fill()
    print('CAN' + 'ARY goes on after a limit')
