# id: n17_while_no_body
# kind: cpu
# tries: a loop without a body to count in: `while not (x := 0)`, and a while-else
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    while not (x := 0): continue
    else: print('never')
