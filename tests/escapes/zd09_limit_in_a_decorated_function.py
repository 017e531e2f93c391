# kind: swallow
# tries: a context manager as a decorator is no guarded `with`: what its odd generator hides stays hidden, also a limit
# a correct runtime must: end the plan with the limit
def solution(agent, start_from=1):
    import contextlib

    class Own:
        def __next__(self):
            return 1

        def throw(self, *error):
            raise StopIteration

    @contextlib.contextmanager(lambda: Own())()
    def fill():
        return list(bytearray(10**15))

    try:
        fill()
    except (AttributeError, TypeError, RuntimeError) as e:
        print(type(e).__name__, e)
        return
    print('CAN' + 'ARY goes on after a limit')
