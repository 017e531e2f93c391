# kind: swallow
# tries: __exit__ hides the limit of turns, and the plan goes on acting
def solution(agent, start_from=1):
    class Hide:
        def __enter__(self): return self
        def __exit__(self, *e): return True
    while True:
        with Hide():
            while True: pass
        agent.goto('CANARY')
