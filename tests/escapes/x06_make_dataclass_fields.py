# id: x06_make_dataclass_fields
# kind: dunder
# tries: make_dataclass takes a finaliser as the default of a field
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    from dataclasses import make_dataclass
    def late(self): print('CANARY-DEL')
    K = make_dataclass('K', [('__del__', object, late)])
    k = K()
    del k
