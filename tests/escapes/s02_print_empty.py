# id: s02_print_empty
# kind: flood
# tries: prints of nothing: frames without a character to count
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    while True:
        print(end='')
