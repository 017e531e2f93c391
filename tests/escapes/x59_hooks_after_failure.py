# kind: swallow
# tries: hooks of objects act after an assertion has failed
def solution(agent, start_from=1):
    class A:
        def __init__(self, n): self.n = n
        def __enter__(self): return self
        def __exit__(self, *e): agent.goto('CANARY')
        def __eq__(self, o): agent.goto('CANARY'); return True
        def __hash__(self): agent.goto('CANARY'); return 1
        def __repr__(self): return 'the end'
        __str__ = __repr__
    x = A(1)
    with x:
        assert False, x
