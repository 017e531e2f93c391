# kind: class
# tries: a class of the plan in Python's list of subclasses raises when it is asked
def solution(agent, start_from=1):
    from collections.abc import Mapping, Sequence
    from abc import ABC
    class A(Mapping):
        def __class_getitem__(cls, x): return cls
    for name in ('__subclasshook__', '__subclasscheck__', '__instancecheck__', '__mro_entries__', '__abstractmethods__', '__prepare__'):
        for how in (lambda: setattr(A, name, lambda *a: True), lambda: type('B', (Mapping,), {name: lambda *a: True})):
            try:
                print('CAN' + 'ARY', how())
            except Exception as e:
                print(type(e).__name__)
