# id: m25_int_addition_growth
# kind: mem
# tries: additions double an int, no multiplication and no shift in sight
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    n = 1
    for _ in range(10**6):
        n += n
    print(n.bit_length())
