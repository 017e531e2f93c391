# kind: swallow
# tries: a ContextDecorator's own with statement hides a memory limit, again and again
def solution(agent, start_from=1):
    from contextlib import ContextDecorator
    class Hide(ContextDecorator):
        def __enter__(self): return self
        def __exit__(self, *e): return True
    @Hide()
    def deep(n): return bytearray(10 ** 12)
    deep(0)
    deep(0)
    print('CANARY-HIDDEN')
    agent.goto('CANARY')
