# id: k35_match_dotted
# kind: frame
# tries: a dotted name in a case is looked up raw, by Python itself
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    match 'x':
        case agent._secret:
            print('CANARY-WALK')
        case agent.goto.__func__:
            print('CANARY-WALK')
