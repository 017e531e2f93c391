# kind: dunder
# tries: the tables inside an Enum are read and written
def solution(agent, start_from=1):
    from enum import Enum
    class E(Enum):
        A = 1
    for name in ('_member_map_', '_value2member_map_', '_member_type_', '_create_', '_convert_', '_get_mixins_', '_new_member_', '_use_args_'):
        try:
            print('CANARY-ENUM', getattr(E, name))
        except Exception as e:
            print(type(e).__name__)
    try:
        getattr(E, '_con' + 'vert_')('X', 'os', lambda n: True)
    except Exception as e:
        print(type(e).__name__)
