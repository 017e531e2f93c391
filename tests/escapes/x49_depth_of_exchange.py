# kind: forge
# tries: a call at the greatest depth is cut in half, and the next call gets its answer
def solution(agent, start_from=1):
    def down(n):
        try:
            down(n + 1)
        except RecursionError:
            try:
                said.append(agent.goto("shelf %d" % n))
            except RecursionError:
                pass
            raise
    said = []
    for _ in range(20):
        try:
            down(0)
        except RecursionError:
            pass
        if "desk 7" not in agent.goto("desk 7"): print("CANARY-FORGE")
