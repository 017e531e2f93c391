# id: o07_deep_generators
# kind: crash
# tries: generator expressions that draw on one another
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    g = (x for x in [1])
    def wrap(inner):
        return (x for x in inner)
    for _ in range(10**5):
        g = wrap(g)
    print(sum(g))
