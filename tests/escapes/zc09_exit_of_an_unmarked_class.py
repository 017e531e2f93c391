# kind: swallow
# tries: a class that is not marked as the plan's, made by Python's own Enum, gets what ends the plan at its __exit__
# a correct runtime must: show such a class an AssertionError, or let no plan make one
def solution(agent, start_from=1):
    import enum

    class Flags(enum.IntFlag):
        pass

    got = []

    def leave(self, *error):
        got.extend(error)
        return True

    try:
        real = [k for k in object.__getattribute__(Flags, 'mro')() if k.__name__ == 'Enum' and k is not enum.Enum]
        context = list(real[0]('X', [('A', 1), ('__enter__', leave), ('__exit__', leave)]))[0]
    except (AttributeError, TypeError, IndexError, ValueError) as e:
        print(type(e).__name__, e)
        return
    try:
        with context:
            assert False, 'over'
    except AssertionError as e:
        print(e)
    for found in got:
        print('CAN' + 'ARY' if type(found).__name__ in ('AssertionFailure', 'traceback') else 'fine', found)
