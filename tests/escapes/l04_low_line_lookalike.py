# id: l04_low_line_lookalike
# kind: names
# tries: low lines of other blocks (U+FF3F, U+FE4D, U+2040) normalise to an underscore inside a name
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    x﹍y = 1
    print('CANARY-WALK', agent.a＿secret, agent.﹏secret, str.a‿b)
