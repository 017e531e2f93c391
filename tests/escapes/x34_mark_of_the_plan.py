# kind: names
# tries: the mark of a plan's class is read, written, deleted and inherited by other ways
def solution(agent, start_from=1):
    class A:
        pass
    for work in (lambda: getattr(A, '__plan' + '_class__'), lambda: A.__dict__['__plan_class__'], lambda: object.__getattribute__(A, '__plan_class__'), lambda: setattr(A, '__plan_class__', 0), lambda: delattr(A, '__plan_class__'), lambda: object.__getattribute__(A, '__dict__')['__plan_class__'], lambda: getattr(A(), '__plan_class__')):
        try:
            print('CANARY-MARK', work())
        except Exception as e:
            print(type(e).__name__)
