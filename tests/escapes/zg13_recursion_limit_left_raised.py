# kind: crash
# tries: a call of the agent, a question or a print at the greatest depth leaves the recursion limit raised for good, each time by a hundred frames, until the C stack ends
# a correct runtime must: give the plan the same depth afterwards
def solution(agent, start_from=1):
    def deep(left, act):
        if left:
            return deep(left - 1, act)
        return act()

    def edge(high):
        while True:
            try:
                deep(high, int)
                return high
            except RecursionError:
                high -= 1

    first = edge(1300)
    for act in (agent.state, lambda: agent.state(), lambda: print('x'), lambda: ask_llm('a'), lambda: print('x' * 4100)):
        for back in range(14):
            try:
                deep(first - back, act)
            except RecursionError:
                pass
    last = edge(1600)
    print('CAN' + f'ARY: {last} frames after {first}' if last > first else 'fine')
