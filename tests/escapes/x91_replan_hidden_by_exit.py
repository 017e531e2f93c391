# kind: swallow
# tries: replan and give_up are hidden by an exit, a generator and a decorator
def solution(agent, start_from=1):
    from contextlib import contextmanager, ExitStack, suppress
    @contextmanager
    def hide():
        try: yield
        except Exception: pass
    class H:
        def __enter__(self): pass
        def __exit__(self, *e): return True
    def g():
        try: yield 1
        finally: yield 2
    with hide(), H(), suppress(Exception), ExitStack() as s:
        s.push(lambda *e: True)
        for v in g():
            replan('wanted')
    agent.goto('CANARY')
