# kind: agent
# tries: asdict copies objects of the host by deepcopy, and calls factories with them
def solution(agent, start_from=1):
    from dataclasses import dataclass, asdict, astuple
    @dataclass
    class A:
        x: object
    for value in (agent, agent.goto, print, A):
        try:
            print(asdict(A(value), dict_factory=lambda items: items)[0][1] is value)
        except Exception as e:
            print(type(e).__name__)
    agent.put(asdict(A(agent)), 'shelf 1')
