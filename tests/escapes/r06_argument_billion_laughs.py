# kind: agent
# tries: thirty lists that hold each other twice: a tree of a billion leaves once it is written out
def solution(agent, start_from=1):
    a = ['laugh'] * 2
    for _ in range(30):
        a = [a, a]
    agent.goto(a)
