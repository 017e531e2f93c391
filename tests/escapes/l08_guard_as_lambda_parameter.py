# id: l08_guard_as_lambda_parameter
# kind: names
# tries: the same in a lambda, positional-only and with a default
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    f = lambda _turn_=lambda: 1, /: [1 for _ in range(10**9)]
    print('CANARY-BIND', f())
