# id: l19_print_rebound
# kind: names
# tries: rebind print, ask and start_from as assignment, loop variable and parameter default
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    for print in [ask]:
        print('FORGED QUESTION')
    start_from = 99
    def solution(agent, start_from=start_from):
        pass
