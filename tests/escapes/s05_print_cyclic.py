# id: s05_print_cyclic
# kind: flood
# tries: print a list that holds itself a hundred thousand times, and a shared tree
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    a = []
    a.extend([a] * 10**5)
    b = [a]
    for _ in range(30):
        b = [b, b]
    print(a, b)
