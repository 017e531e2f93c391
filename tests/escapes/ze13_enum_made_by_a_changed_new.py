# kind: names
# tries: a hook that runs while an Enum is made gives it another _new_member_, which returns any object
# a correct runtime must: keep what makes the members, or refuse what is no object of the plan's class
def solution(agent, start_from=1):
    import enum
    import string

    def change():
        for name in ('_new_member_', '_member_type_'):
            try:
                setattr(kinds[0], name, lambda cls, *_: string.Template)
            except (AttributeError, TypeError) as e:
                print(type(e).__name__, e)

    class Hook:
        def __get__(self, owner, kind=None):
            return None

        def __set_name__(self, owner, name):
            kinds.append(owner)
            change()

    class Value:
        def __getattribute__(self, name):
            if name == '__class__' and kinds:
                change()
            return object.__getattribute__(self, name)

    kinds = []
    try:
        class F(enum.Enum):
            hook = Hook()
            A = Value()
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
    names = object.__dir__(string.Template(''))
    print('CAN' + 'ARY' if '_value_' in names or '_name_' in names else 'fine')
