# kind: swallow
# tries: an exception that fails when it is asked for its class passes a with statement, and hides the memory limit behind it
def solution(agent, start_from=1):
    class Hidden(Exception):
        def __getattribute__(self, name): raise KeyError(name)
    class Hide:
        def __enter__(self): return self
        def __exit__(self, *e): return True
    def deep():
        try:
            bytearray(10 ** 12)
        finally:
            raise Hidden()
    for _ in range(3):
        with Hide():
            deep()
        print('CANARY-HIDDEN')
