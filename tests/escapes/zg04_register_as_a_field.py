# kind: class
# tries: a dataclass made by a call has a field called register, whose default is the method of the metaclass: it makes a class of Python's count as a Sequence, for all
# a correct runtime must: refuse such a field, or register for abstract classes of the plan alone
def solution(agent, start_from=1):
    import collections.abc
    import dataclasses
    import fractions

    class Base(collections.abc.Sequence):
        def __len__(self):
            return 0

        def __getitem__(self, index):
            raise IndexError

    try:
        made = dataclasses.make_dataclass('Made', ['register'], bases=(Base,))()
        made.register(fractions.Fraction)
    except (AttributeError, TypeError, ValueError) as e:
        print('fine', type(e).__name__, e)
    if isinstance(fractions.Fraction(1), collections.abc.Sequence):
        print('CAN' + 'ARY: a Fraction is a Sequence')
