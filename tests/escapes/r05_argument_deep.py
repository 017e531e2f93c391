# id: r05_argument_deep
# kind: agent
# tries: an argument that is a hundred thousand deep
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    a = []
    for _ in range(10**5):
        a = [a]
    agent.goto(a)
