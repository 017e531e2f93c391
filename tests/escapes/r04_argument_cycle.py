# kind: agent
# tries: a list that holds itself as an argument, and a dict that is its own key's value
def solution(agent, start_from=1):
    a = []
    a.append(a)
    d = {}
    d['d'] = d
    for value in (a, d, [d, a]):
        try:
            agent.goto(value)
        except (TypeError, RuntimeError, ValueError, RecursionError):
            pass
