# id: l25_comprehension_iter_scope
# kind: names
# tries: the first iterable of a comprehension is evaluated in the enclosing scope, with a lambda that escapes
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    fs = [f for f in [lambda n=n: agent._secret for n in range(3)]]
    print('CANARY-WALK', [f() for f in fs])
