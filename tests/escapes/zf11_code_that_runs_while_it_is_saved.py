# kind: ckpt
# tries: a Fraction holds whatever as_integer_ratio of a kind of float returns, and its text is made by that when variables are saved, after the plan's end
# a correct runtime must: save numbers alone, and run no code of the plan for it
def solution(agent, start_from=1):
    import fractions

    class Number(int):
        def __str__(self):
            ran.append('CAN' + 'ARY ran while it was saved')
            return 'no number'

        __repr__ = __str__

        def __format__(self, spec):
            return self.__str__()

    class Half(float):
        def as_integer_ratio(self):
            return Number(1), Number(2)

    ran = []
    half = fractions.Fraction(Half(0.5))
    zzz = ran
