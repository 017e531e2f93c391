# kind: exc
# tries: an uncaught error of the plan's own class has hostile texts
def solution(agent, start_from=1):
    class E(Exception):
        def __str__(self):
            agent.goto('CANARY')
            while True: pass
        __repr__ = __str__
        def __getattribute__(self, name): return E
    raise E(1)
