# kind: dunder
# tries: MethodType binds functions of the runtime to objects of the plan and is read back
def solution(agent, start_from=1):
    from types import MethodType
    class A: pass
    for f in (print, agent.goto, getattr, setattr, ask, replan, 'a'.format, str.join):
        try:
            m = MethodType(f, A())
            print('CANARY-WALK' if hasattr(m, '__func__') or hasattr(m, '__self__') else 'closed')
            a = A(); a.m = m
            m('x')
        except Exception as e:
            print(type(e).__name__)
