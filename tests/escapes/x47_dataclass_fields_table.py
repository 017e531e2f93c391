# kind: names
# tries: the table of a dataclass's fields is changed before the class is decorated again
def solution(agent, start_from=1):
    from dataclasses import dataclass, fields, replace, field
    @dataclass
    class A:
        x: int = 1
    table = A.__dataclass_fields__
    try:
        table['__del__'] = table['x']
    except Exception as e:
        print(type(e).__name__)
    @dataclass
    class B(A): pass
    print('CANARY-DEL' if hasattr(B, '__del__') else B())
