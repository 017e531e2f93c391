# kind: cpu
# tries: __init_subclass__ and __set_name__ make classes without end
def solution(agent, start_from=1):
    class A:
        def __init_subclass__(cls):
            class B(A): pass
    class S:
        def __set_name__(self, owner, name):
            class T:
                s = S()
    class B(A): pass
