# id: x15_with_hides_turns
# kind: swallow
# tries: __exit__ hides the limit of turns, and the plan goes on acting
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
def solution(agent, start_from=1):
    class Hide:
        def __enter__(self): return self
        def __exit__(self, *e): return True
    while True:
        with Hide():
            while True: pass
        agent.goto('CANARY')
