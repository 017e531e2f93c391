# kind: class
# tries: a field without a default takes what the class has from its metaclass, such as type.mro, as its default
# a correct runtime must: find no default there, or give the guarded methods
def solution(agent, start_from=1):
    import dataclasses
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

    names = ('mro', 'register', '_dump_registry', '_abc_registry_clear', '_abc_caches_clear')
    for kind in (Flags, M):
        try:
            kind.__annotations__ = dict.fromkeys(names, object)
            made = dataclasses.dataclass(init=False, repr=False, eq=False)(kind)
            found = {f.name: f.default for f in dataclasses.fields(made) if f.default is not dataclasses.MISSING}
            print('CAN' + 'ARY' if found else 'fine', found)
            print([k for k in found['mro']() if k.__name__ == 'Enum' and k is not enum.Enum])
            found['register'](int)
            print('CAN' + 'ARY' if isinstance(5, Mapping) else 'fine')
        except (AttributeError, TypeError, KeyError, ValueError) as e:
            print(type(e).__name__, e)
