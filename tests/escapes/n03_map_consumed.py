# id: n03_map_consumed
# kind: cpu
# tries: any, all, max or a membership test drive a map over a long range, no loop in the source
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(-1 in map(abs, range(10**12)))
