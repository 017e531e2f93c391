# kind: dunder
# tries: augmented assignment on attributes and on results of calls: __iadd__ without a guard (CVE in old RestrictedPython)
def solution(agent, start_from=1):
    agent.location += ' FORGED'
    agent.receptacles += ['FORGED']
    agent.holding |= {'FORGED': 1}
