# id: n22_random_rejection
# kind: cpu
# tries: randrange, gauss and shuffle of huge populations
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import random
    population = list(range(10**6))
    while True:
        random.shuffle(population)
