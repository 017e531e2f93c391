# kind: swallow
# tries: RecursionError is a RuntimeError and MemoryError an Exception: catch them by their parents, in a tuple
def solution(agent, start_from=1):
    def f():
        return f()
    while True:
        try:
            f()
        except (RuntimeError, ValueError):
            pass
