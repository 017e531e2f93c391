# id: m04_fstring_nested_spec
# kind: format
# tries: an f-string's spec made of a format string, and its = form
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    name = '{0.__class__}'
    print(f'{agent:{name}}')
    print(f'{agent.__class__=} CANARY-WALK')
