# kind: dunder
# tries: a generated __init__ is a function of Python whose globals are those of the runtime
def solution(agent, start_from=1):
    from dataclasses import dataclass
    @dataclass(order=True)
    class A:
        x: int = 1
    for name in ('__init__', '__repr__', '__eq__', '__lt__'):
        f = getattr(A, name)
        for inside in ('__globals__', '__code__', '__closure__', '__builtins__', '__defaults__', '__wrapped__'):
            try:
                print('CANARY-WALK', getattr(f, inside))
            except Exception as e:
                print(type(e).__name__)
    try:
        A.__init__.tag = 1
        print('CANARY-WRITE')
    except Exception as e:
        print(type(e).__name__)
