# kind: class
# tries: annotations that are no dict, or a dict of the plan's own kind, in dataclass and hints
def solution(agent, start_from=1):
    import typing, inspect
    from dataclasses import dataclass
    class D(dict):
        def items(self): return [("x: int = print('CAN' + 'ARY')) -> None: pass\n  def q(self", int)]
        def get(self, *a): return 1
    for ann in (D(a=int), D(), 5, None, agent, {5: 6}, {agent: 1}, {'': int}, {'self': int}, {'__class__': int}, {'__init__': int}, {'_getattr_': int}, {'None': int}, {'MISSING': int}, {'_HAS_DEFAULT_FACTORY': int}, {'print': 1, '__dataclass_builtins_object__': 2}):
        for act in (lambda: dataclass(type('K', (), {'__annotations__': ann})), lambda: typing.get_type_hints(type('K', (), {'__annotations__': ann}))):
            try:
                K = act()
                print(K)
                print(K(1))
            except Exception as e:
                print(repr(e)[:80])
