# kind: names
# tries: names in a class are mangled into names of the runtime
def solution(agent, start_from=1):
    class getattr_:
        def f(self):
            __x = 1
            global __turn
            __turn = 2
            return [k for k in (__x, __turn)]
    class _write_:
        pass
