# id: m26_lcm_growth
# kind: mem
# tries: lcm and prod of many numbers: a product by another name
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import math
    print(math.lcm(*range(1, 300000)).bit_length())
