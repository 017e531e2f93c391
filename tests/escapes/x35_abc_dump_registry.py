# kind: print
# tries: a class with ABCMeta prints its registry, with addresses, to the process's own output
def solution(agent, start_from=1):
    from abc import ABC
    class A(ABC): pass
    class Sink:
        def write(self, text): print('CANARY-DUMP' if '0x' in text else text, end='')
        def flush(self): pass
    for work in (lambda: A._dump_registry(), lambda: A._dump_registry(Sink()), lambda: A._abc_registry_clear(), lambda: A._abc_impl):
        try:
            print('0x' in str(work()) and 'CANARY-DUMP')
        except Exception as e:
            print(type(e).__name__)
