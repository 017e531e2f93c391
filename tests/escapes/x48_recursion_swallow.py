# kind: swallow
# tries: recursion that catches its own end, and calls the agent at the greatest depth
def solution(agent, start_from=1):
    def f(n):
        try:
            return f(n + 1)
        except RecursionError:
            try:
                agent.goto("shelf 1")
                return f(n + 1)
            except RecursionError:
                return n
    f(0)
