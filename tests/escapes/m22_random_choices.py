# id: m22_random_choices
# kind: mem
# tries: random.choices and sample make as many as they are asked for
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    import random
    print(len(random.choices('ab', k=10**10)))
