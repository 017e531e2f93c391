# kind: mem
# tries: random bytes of a size that lies, or is too large
def solution(agent, start_from=1):
    import os
    class Size:
        def __index__(self):
            return 5
        def __mul__(self, other):
            agent.goto('CANARY')
            return 10**12
        def __lt__(self, other):
            return agent.goto('CANARY')
    class Large(int):
        def __mul__(self, other):
            return agent.goto('CANARY')
        __lt__ = __gt__ = __mul__
    print(len(os.urandom(Size())), len(os.urandom(Large(7))), len(os.urandom(True)))
    kept = []
    for size in (10**6, 10**9, 10**30):
        kept.append(os.urandom(size))
    agent.goto('CANARY')
