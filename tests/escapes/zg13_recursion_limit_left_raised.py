# kind: crash
# tries: a call of the agent, a question or a print at the greatest depth leaves the recursion limit raised for good, each time by a hundred frames, until the C stack ends
# a correct runtime must: give the plan the same depth afterwards
def solution(agent, start_from=1):
    def deep(left, act):
        if left:
            return deep(left - 1, act)
        return act()

    def deeper(n):
        reached[0] = n
        deeper(n + 1)

    def edge():
        try:
            deeper(0)
        except RecursionError:
            return reached[0]

    reached = [0]
    first = edge()
    for act in (agent.look, lambda: agent.look(), lambda: ask_llm('a'), lambda: print('x' * 4100)):
        for back in range(-2, 12):
            try:
                deep(first - back, act)
            except RecursionError:
                pass
    last = edge()
    print('CAN' + f'ARY: {last} frames after {first}' if last > first else 'fine')
