# id: n23_strptime_float
# kind: cpu
# tries: float and complex of texts of millions of digits, repr of tiny floats
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    while True:
        float('1' * 10**7 + 'e-' + '9' * 10**6)
