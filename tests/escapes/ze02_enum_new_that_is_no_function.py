# kind: names
# tries: an Enum's __new__ that is no function of the plan but a partial, a cached function or a method returns any object
# a correct runtime must: refuse what is no object of the plan's class, whatever makes it
def solution(agent, start_from=1):
    import enum
    import functools
    import string

    def new(cls, *_):
        return string.Template

    class Method:
        def new(self, cls, *_):
            return string.Template

        def __call__(self, cls, *_):
            return string.Template

    made = [functools.partial(new), functools.cache(new), Method().new, staticmethod(staticmethod(new)), Method()]
    for each in made:
        try:
            class F(enum.Enum):
                __new__ = each
                A = 1
        except (AttributeError, TypeError) as e:
            print(type(e).__name__, e)
        try:
            class Mix:
                __new__ = each

            class G(Mix, enum.Enum):
                A = 1
        except (AttributeError, TypeError) as e:
            print(type(e).__name__, e)
    names = object.__dir__(string.Template(''))
    print('CAN' + 'ARY wrote to string.Template' if '_value_' in names or '_name_' in names else 'fine')
