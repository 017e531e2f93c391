# kind: swallow
# tries: a context on an ExitStack hides a failed assertion and goes on acting
def solution(agent, start_from=1):
    from contextlib import ExitStack
    class Hide:
        def __enter__(self): return self
        def __exit__(self, kind, error, trace):
            print('CANARY-END' if 'Failure' in kind.__name__ else 'shown as', kind.__name__)
            return True
    with ExitStack() as stack:
        stack.enter_context(Hide())
        assert False, 'hidden'
    agent.goto('CANARY')
