# id: m20_grow_while_iterating
# kind: mem
# tries: a list that grows under its own for loop
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    a = ['x' * 1000]
    for x in a:
        a.append(x + 'y')
