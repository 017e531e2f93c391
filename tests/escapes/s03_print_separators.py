# id: s03_print_separators
# kind: flood
# tries: the separator and the end are long, the values many
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(*range(10**5), sep='x' * 10**4, end='y' * 10**8)
