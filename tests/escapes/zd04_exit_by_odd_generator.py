# kind: swallow
# tries: contextmanager over a function that is no generator gives the plan's own throw what ends the plan
# a correct runtime must: show it an AssertionError, or take generators alone
def solution(agent, start_from=1):
    import contextlib
    got = []

    class Own:
        def __next__(self):
            return 1

        def throw(self, *error):
            got.extend(error)
            raise StopIteration

    try:
        with contextlib.contextmanager(lambda: Own())():
            assert False, 'over'
    except AssertionError as e:
        print(e)
    except (AttributeError, TypeError, RuntimeError) as e:
        print(type(e).__name__, e)
    for found in got:
        print('CAN' + 'ARY' if type(found).__name__ in ('AssertionFailure', 'traceback') else 'fine', found)
