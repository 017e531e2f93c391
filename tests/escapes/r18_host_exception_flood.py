# kind: agent
# tries: a thousand failing calls: does any one message carry more than it should
def solution(agent, start_from=1):
    for i in range(400):
        for call in (agent.fail, agent.leaky):
            try:
                call()
            except Exception as e:
                if i % 100 == 0: print(e, e.args, repr(e))
