# kind: dunder
# tries: make_dataclass takes a finaliser as the default of a field
def solution(agent, start_from=1):
    from dataclasses import make_dataclass
    def late(self): print('CANARY-DEL')
    K = make_dataclass('K', [('__del__', object, late)])
    k = K()
    del k
