# kind: swallow
# tries: methods that C code calls lose an assertion, which a handler has raised again, by a jump in finally
def solution(agent, start_from=1):
    def end():
        try:
            assert False, 'the end'
        except AssertionError:
            raise
    def lost(self, *_):
        for _ in range(2):
            try:
                end()
            finally:
                return 1
    class A:
        __hash__ = __lt__ = __getattr__ = __index__ = __len__ = __contains__ = lost
        def __iter__(self):
            try:
                end()
                yield 1
            finally:
                return
    class Context:
        __exit__ = lost
        def __enter__(self):
            return self
    def leaves():
        with Context():
            pass
    for way in (lambda: {A(): 1}, lambda: sorted([A(), A()]), lambda: list(A()), lambda: A().q, lambda: [1, 2][A()], leaves, lambda: hasattr(A(), 'z'), lambda: len(A()), lambda: 1 in A()):
        try:
            way()
        except AssertionError:
            continue
        agent.goto('CANARY')
