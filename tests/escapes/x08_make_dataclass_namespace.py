# kind: dunder
# tries: the namespace of make_dataclass holds names of the runtime, given by a text of the plan's own class
def solution(agent, start_from=1):
    from dataclasses import make_dataclass
    class S(str):
        def __eq__(self, o): return o == 'harmless'
        def __hash__(self): return hash('harmless') if False else 1
        def endswith(self, x): return False
    K = make_dataclass('K', ['a'], namespace={S('__del__'): lambda self: print('CANARY-DEL')})
    K(1)
