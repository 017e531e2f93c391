# kind: ckpt
# tries: __getattr__ answers __reduce_ex__, __getstate__ and __deepcopy__ when variables are saved
def solution(agent, start_from=1):
    class A:
        def __getattr__(self, name):
            print('CANARY-SAVED' if name.startswith('__re') else name)
            return lambda *a: (print, ('CANARY-PICKLE',))
        def __getattribute__(self, name):
            return object.__getattribute__(self, name)
    x = A()
    y = [A(), {'a': A()}]
    assert False, 'stop'
