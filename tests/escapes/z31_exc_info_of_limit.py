# kind: swallow
# tries: the limit is read by exc_info in finally and in an exit
def solution(agent, start_from=1):
    import sys, contextlib
    kept = []
    class C:
        def __enter__(self): return self
        def __exit__(self, *a):
            kept.append(sys.exc_info())
            kept.append(sys.exception())
            if any(k is not None and 'Limit' in repr(k) for k in kept): print('CAN' + 'ARY')
            return True
    def f(n): return f(n + 1) if n < 10 ** 6 else 0
    with C():
        x = [0] * 10 ** 9
    print('CAN' + 'ARY went on')
