# kind: exc
# tries: ExitStack hands the exception that ends the plan to an exit function
def solution(agent, start_from=1):
    from contextlib import ExitStack
    got = []
    def look(kind, error, trace):
        got.append((kind, error))
        print('CANARY-END' if kind.__name__ not in ('AssertionError', 'RuntimeError') else 'a stand-in')
        return True
    with ExitStack() as stack:
        stack.push(look)
        assert False, 'the end'
    agent.goto('CANARY')
