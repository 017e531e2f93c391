# id: m05_percent_mapping
# kind: format
# tries: %-formatting with a mapping whose factory has side effects, and with %r of the agent
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    from collections import defaultdict
    d = defaultdict(lambda: agent.goto('FORGED'))
    text = '%(a)s' % d
    print('%r %a %s' % (agent, ask, print))
