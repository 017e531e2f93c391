# kind: names
# tries: guards must not look at the plan's names: type, len, isinstance and getattr are rebound first
def solution(agent, start_from=1):
    type = lambda x: str
    isinstance = lambda a, b: True
    getattr = lambda a, b, *c: 'FORGED'
    len = lambda x: 0
    print('x'.format(agent), agent.goto('shelf 1'))
    try:
        agent.goto(lambda: 0)
        print('CANARY-BIND')
    except Exception:
        pass
