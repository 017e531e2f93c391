# id: l10_walrus_guard
# kind: names
# tries: a walrus binds a guard, in a comprehension even in the outer scope
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    [(_counted_ := v) for v in [lambda *a: 'FORGED']]
    (_fail_ := print)
    assert False, 'CANARY-BIND'
