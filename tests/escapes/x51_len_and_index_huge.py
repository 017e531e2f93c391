# kind: mem
# tries: __len__, __index__ and __length_hint__ are huge in every guard that asks for sizes
def solution(agent, start_from=1):
    class Big:
        def __index__(self): return 10 ** 12
        def __int__(self): return 10 ** 12
        def __len__(self): return 10 ** 12
        def __length_hint__(self): return 10 ** 12
        def __iter__(self): return self
        def __next__(self): raise StopIteration
    b = Big()
    for work in (lambda: 'a' * b, lambda: [1] * b, lambda: 'a'.ljust(b), lambda: f'{1:{10 ** 6}}', lambda: '%*d' % (b, 1), lambda: 1 << b, lambda: bytes(b), lambda: range(b)[5], lambda: list(b), lambda: [0][b], lambda: round(1.5, b), lambda: (b'a').zfill(b)):
        try:
            print(len(work() if not isinstance(work(), int) else 'x') < 10 ** 6)
        except Exception as e:
            print(type(e).__name__)
