# kind: getattr
# tries: the objects that describe a dataclass's fields lead to others
def solution(agent, start_from=1):
    from dataclasses import dataclass, fields, field, MISSING, KW_ONLY, InitVar
    @dataclass
    class A:
        x: int = field(default=1, metadata={'a': 1})
    f, = fields(A)
    for value in (f, MISSING, KW_ONLY, InitVar, InitVar[int], f.metadata, A.__dataclass_fields__):
        for name in ('_field_type', '__class__', '__set_name__', '__slots__', '__init__', '__module__', '__reduce__', '__dict__'):
            try:
                v = getattr(value, name)
                print('CANARY-WALK' if getattr(v, '__globals__', None) else 'nothing')
            except Exception as e:
                print(type(e).__name__)
    try:
        f.name = '__class__'
        print('CANARY-WRITE')
    except Exception as e:
        print(type(e).__name__)
