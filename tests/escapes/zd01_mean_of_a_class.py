# kind: class
# tries: statistics.mean of classes calls the class of a class, Python's type, with an object of the plan's choice: its real class
# a correct runtime must: raise TypeError for what is no number
def solution(agent, start_from=1):
    import statistics
    from abc import ABC

    held = []

    class Total:
        def __radd__(self, other):
            return self

        def is_finite(self):
            return False

        def __truediv__(self, other):
            return held[-1]

    class K:
        @staticmethod
        def as_integer_ratio():
            return Total(), None

    A = type('A', (ABC,), {})

    def real(thing):
        held.append(thing)
        return statistics.mean([K])

    try:
        print('CAN' + 'ARY', real(agent))
        meta = real(A)
        M = meta('M', (meta,), {'__plan_class__': True})
        every = M.__subclasses__(object)
        get = [k for k in every if k.__name__ == 'attrgetter'][0]
        print('CAN' + 'ARY', sorted(get('__globals__')(print)))
    except (AttributeError, TypeError, IndexError) as e:
        print(type(e).__name__, e)
