# id: s01_print_loop
# kind: flood
# tries: a million short prints
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    for i in range(10**6):
        print('x' * 50)
