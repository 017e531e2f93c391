# kind: agent
# tries: closing calls a method of the agent's side that is named close
def solution(agent, start_from=1):
    from contextlib import closing, suppress
    with suppress(Exception):
        with closing(agent) as a:
            print(a)
    class Fake:
        close = agent.goto
    with closing(Fake()):
        pass
