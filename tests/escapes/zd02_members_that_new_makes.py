# kind: names
# tries: an Enum's __new__ returns any object: Python writes to it, and calls its __init__ with what the plan gives
# a correct runtime must: refuse what is no object of the plan's class
def solution(agent, start_from=1):
    import calendar
    import enum
    import string
    from concurrent import futures
    got = []

    class Poses:
        def __getattribute__(self, name):
            return futures.Future if name == '__class__' else object.__getattribute__(self, name)

        def __setattr__(self, name, value):
            got.append(value)

    def initialise(thing, *given):
        class F(enum.Enum):
            def __new__(cls, *_):
                return thing

            A = given

    class Run:
        host = failure = None

    class Stopper:
        def raise_if_failed(self):
            print('CAN' + 'ARY the scheduler asks the stopper of the plan')

    try:
        initialise(calendar.IllegalMonthError, string.Template, 7)
        print('CAN' + 'ARY wrote to string.Template')
        initialise(futures.Future, Poses())
        initialise(got[0], Run(), Stopper())
        futures.ThreadPoolExecutor().submit(int, 'x').exception()
    except (AttributeError, TypeError, IndexError) as e:
        print(type(e).__name__, e)
