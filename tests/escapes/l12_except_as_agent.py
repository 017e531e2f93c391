# id: l12_except_as_agent
# kind: names
# tries: except … as agent: at the handler's end the name is deleted
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    try:
        1 / 0
    except ZeroDivisionError as agent:
        pass
    print('CANARY-BIND', agent)
