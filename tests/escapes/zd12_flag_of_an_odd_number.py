# kind: names
# tries: the data type of a Flag has a __new__ that returns any object, which Flag._missing_ writes to
# a correct runtime must: refuse what is no object of the plan's class
def solution(agent, start_from=1):
    import enum
    import string

    class Number(int):
        pass

    class F(Number, enum.Flag):
        A = 1
        B = 2

    try:
        Number.__new__ = staticmethod(lambda cls, value: string.Template)
        print(F(3))
    except (AttributeError, TypeError, ValueError) as e:
        print(type(e).__name__, e)
    names = object.__dir__(string.Template(''))
    print('CAN' + 'ARY' if '_value_' in names or '_name_' in names else 'fine')
