# kind: names
# tries: __set_name__ and __init_subclass__ write to the class as it is made, with names of Python
def solution(agent, start_from=1):
    class D:
        def __set_name__(self, owner, name):
            for n in ('__del__', '__class__', '__reduce__', '__plan_class__', '__getstate__', '__instancecheck__'):
                try:
                    setattr(owner, n, print)
                    print('CANARY-WRITE', n)
                except Exception as e:
                    print(type(e).__name__)
    class A:
        d = D()
