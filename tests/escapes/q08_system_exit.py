# id: q08_system_exit
# kind: swallow
# tries: raise SystemExit(0), as if all had gone well
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    agent.goto('shelf 1')
    raise SystemExit(0)
