# kind: names
# tries: PEP 695: bounds of type parameters are lazily run scopes of their own
def solution(agent, start_from=1):
    def f[T: (print('CANARY-HINT'), open('@MARKER@', 'w'))](x: T) -> T:
        return x
    type Alias = print('CANARY-HINT')
    print(f.__type_params__[0].__bound__, Alias.__value__)
