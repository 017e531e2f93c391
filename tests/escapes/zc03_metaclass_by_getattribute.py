# kind: class
# tries: object.__getattribute__ of a class gives type.mro and ABCMeta.register as they are, which reach Python's own Enum
# a correct runtime must: give the guarded ones, as K.mro and K.register are
def solution(agent, start_from=1):
    import enum
    from collections.abc import Mapping

    class Flags(enum.IntFlag):
        pass

    class M(Mapping):
        def __getitem__(self, key):
            return 1

        def __iter__(self):
            return iter([])

        def __len__(self):
            return 0

    def gone(self):
        print('CAN' + 'ARY: a finaliser runs')

    for read in (lambda k, n: object.__getattribute__(k, n), lambda k, n: super(k, k).__getattribute__(n)):
        try:
            for kind in read(Flags, 'mro')():
                if kind.__name__ == 'Enum' and kind is not enum.Enum:
                    print('CAN' + 'ARY', kind)
                    kind('K', [('A', 1), ('B', 1), ('__del__', gone)])
        except (AttributeError, TypeError, ValueError) as e:
            print(type(e).__name__, e)
        try:
            read(M, 'register')(int)
        except (AttributeError, TypeError) as e:
            print(type(e).__name__, e)
        print('CAN' + 'ARY' if isinstance(5, Mapping) else 'fine')
