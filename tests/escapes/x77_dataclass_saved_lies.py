# kind: ckpt
# tries: a dataclass lies about its fields while it is saved
def solution(agent, start_from=1):
    from dataclasses import dataclass
    @dataclass
    class A:
        x: int = 1
        def __getattribute__(self, name):
            if name == '__dict__': return {'x': agent, '__class__': print}
            if name == 'x': return ['CANARY'] * 2 if False else 1
            return object.__getattribute__(self, name)
    a, b = A(), [A()]
    a.y = 'z' * 10 ** 6
    assert False, 'stop'
