# kind: agent
# tries: texts that the host gives freely must not carry the secret: report, repr, signature errors
def solution(agent, start_from=1):
    print(agent.report(), agent)
    for wrong in (lambda: agent.goto(), lambda: agent.goto(1, 2, 3), lambda: agent.take(), lambda: agent.report('x')):
        try:
            wrong()
        except Exception as e:
            print(e)
