# kind: names
# tries: Flag._missing_ by super(enum.Flag, F), or with a __new__ of the data type that is no function, writes to any object
# a correct runtime must: refuse what is no object of the plan's class
def solution(agent, start_from=1):
    import enum
    import functools
    import string

    class Number(int):
        pass

    class F(Number, enum.Flag):
        A = 1
        B = 2

    def new(cls, value):
        return string.Template

    for given, missing in (
        (functools.partial(new), F),
        (staticmethod(new), super(enum.Flag, F)._missing_),
    ):
        try:
            Number.__new__ = given
            print(missing(3))
        except (AttributeError, TypeError, ValueError) as e:
            print(type(e).__name__, e)
    names = object.__dir__(string.Template(''))
    print('CAN' + 'ARY' if '_value_' in names or '_name_' in names else 'fine')
