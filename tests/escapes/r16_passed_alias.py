# id: r16_passed_alias
# kind: agent
# tries: pass a list and change it after: does the host still hold it?
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    note = ['fine']
    agent.take(note, 'shelf 1')
    note.append('FORGED')
    if agent.holding != ['fine'] and agent.holding is not None: print('CANARY-ALIAS', agent.holding)
