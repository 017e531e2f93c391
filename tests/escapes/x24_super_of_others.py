# kind: dunder
# tries: super of objects that are not the plan's reads their insides
def solution(agent, start_from=1):
    class A: pass
    for owner, value in ((object, agent), (object, print), (int, 5), (object, A), (object, agent.goto), (object, ExitStack if False else len)):
        for name in ('__self__', '__init__', '__reduce__', '__subclasshook__', '__dict__', '_secret', '__getattribute__', '__setattr__'):
            try:
                print('CANARY-WALK' if name in ('__self__', '__reduce__', '__subclasshook__', '__dict__', '_secret') else '', getattr(super(owner, value), name))
            except Exception as e:
                print(type(e).__name__)
