# kind: frame
# tries: a bound method's function, a function's code and a staticmethod's function are read
def solution(agent, start_from=1):
    class A:
        def m(self): pass
        @staticmethod
        def s(): pass
        @classmethod
        def c(cls): pass
    for value in (A().m, A.m, A.s, A.c, A.__dict__['s'], A.__dict__['c']):
        for name in ('__func__', '__code__', '__globals__', '__closure__', '__builtins__', '__type_params__', '__self__', '__wrapped__', 'func_globals'):
            try:
                print('CANARY-WALK', getattr(value, name))
            except Exception as e:
                print(type(e).__name__)
