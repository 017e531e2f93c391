# kind: swallow
# tries: a generator that delegates hands what ends the plan to the throw of an object of the plan
# a correct runtime must: show it an AssertionError
def solution(agent, start_from=1):
    import contextlib
    got = []

    class Own:
        def __iter__(self):
            return self

        def __next__(self):
            return 1

        def throw(self, *error):
            got.extend(error)
            raise StopIteration

    @contextlib.contextmanager
    def delegates():
        yield from Own()

    try:
        with delegates():
            assert False, 'over'
    except AssertionError as e:
        print(e)
    except RuntimeError as e:
        print(type(e).__name__, e)
    for found in got:
        print('CAN' + 'ARY' if type(found).__name__ in ('AssertionFailure', 'traceback') else 'fine', found)
