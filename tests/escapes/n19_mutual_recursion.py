# id: n19_mutual_recursion
# kind: cpu
# tries: exponential recursion that never gets deep
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    def f(n):
        return 0 if n == 0 else f(n - 1) + f(n - 1)
    print(f(200))
