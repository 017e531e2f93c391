# kind: frame
# tries: from Python 3.12 on, a member named like a descriptor of its mixin is an enum.property, which reads that name of any _value_: gi_frame
# a correct runtime must: let no Enum have such a member, or not read by it
def solution(agent, start_from=1):
    import enum

    class Described:
        def __get__(self, owner, kind=None):
            return 1

    class Mix:
        gi_frame = f_back = f_globals = _writers = Described()

    class Holder:
        pass

    def read(thing, name):
        class F(Mix, enum.Enum):
            gi_frame, f_back, f_globals, _writers = 1, 2, 3, 4

        Holder.read = vars(F)[name]
        holder = Holder()
        holder._value_ = thing
        return holder.read

    def walk():
        frame = read(held[0], 'gi_frame')
        while frame:
            if 'Cage' in read(frame, 'f_globals'):
                print('CAN' + 'ARY', frame)
            frame = read(frame, 'f_back')
        yield 1

    held = []
    held.append(walk())
    try:
        next(held[0])
    except (AttributeError, TypeError, KeyError, ValueError) as e:
        print(type(e).__name__, e)
