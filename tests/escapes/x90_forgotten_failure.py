# id: x90_forgotten_failure
# kind: swallow
# tries: a caught assertion forgets the end that another thread of the plan's code recorded
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    class C:
        def __enter__(self): return self
        def __exit__(self, kind, error, trace):
            try:
                assert False, 'second'
            except AssertionError:
                pass
            return True
    def loop():
        while True: pass
    with C():
        loop()
    agent.goto('CANARY')
    print('CANARY-FORGOTTEN')
