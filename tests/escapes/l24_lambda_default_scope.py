# id: l24_lambda_default_scope
# kind: names
# tries: defaults of lambdas are computed outside: a walrus and a private name within
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    f = lambda x=(secret := [].__class__), *, y=agent._secret: (x, y)
    print('CANARY-WALK', f())
