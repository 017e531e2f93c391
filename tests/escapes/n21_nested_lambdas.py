# id: n21_nested_lambdas
# kind: cpu
# tries: recursion by a lambda that is handed to itself (no name to find it by)
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    (lambda f: f(f))(lambda f: [f(f) for _ in range(2)])
