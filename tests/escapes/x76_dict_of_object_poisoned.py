# kind: ckpt
# tries: an object's own dict holds itself, the agent and names that are no texts
def solution(agent, start_from=1):
    class A: pass
    a = A()
    a.me, a.agent, a.f = a, agent, print
    try:
        a.__dict__[5] = 'number'
        a.__dict__['__class__'] = dict
    except Exception as e:
        print(type(e).__name__)
    assert False, 'stop'
