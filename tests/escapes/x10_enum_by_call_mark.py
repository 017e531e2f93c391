# kind: dunder
# tries: an Enum made by a call names the runtime's mark and guards
def solution(agent, start_from=1):
    from enum import Enum
    for name in ('__plan_class__', '_getattr_', '__class__', '_member_map_'):
        try:
            E = Enum('E', [(name, 1)])
            print('CANARY-NAME', name, E)
        except Exception as e:
            print(type(e).__name__)
