# kind: dunder
# tries: an object's __getattribute__ answers __class__ with other types, to pose as them before guards
def solution(agent, start_from=1):
    class Poser:
        def __init__(self, kind): object.__setattr__(self, 'kind', kind)
        def __getattribute__(self, name):
            return object.__getattribute__(self, 'kind') if name == '__class__' else object.__getattribute__(self, name)
    for kind in (str, int, bytes, dict, list, Exception, type):
        p = Poser(kind)
        for work in (lambda: agent.goto(p), lambda: ask(p), lambda: replan(p), lambda: p % 3, lambda: 'a' * p, lambda: print(p.__dict__ is None), lambda: getattr(agent, p)):
            try:
                work()
                print('passed')
            except Exception as e:
                print(type(e).__name__)
