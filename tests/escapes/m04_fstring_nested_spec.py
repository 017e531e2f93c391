# kind: format
# tries: an f-string's spec made of a format string, and its = form
def solution(agent, start_from=1):
    name = '{0.__class__}'
    print(f'{agent:{name}}')
    print(f'{agent.__class__=} CANARY-WALK')
