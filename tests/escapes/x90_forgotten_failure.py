# kind: swallow
# tries: a caught assertion forgets the end that another thread of the plan's code recorded
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
