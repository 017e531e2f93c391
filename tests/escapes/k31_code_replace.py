# kind: frame
# tries: a lambda's __code__.replace(co_code=…): own bytecode
def solution(agent, start_from=1):
    f = lambda: 0
    code = f.__code__.replace(co_code=b'\x64\x00\x53\x00', co_consts=('CANARY-CODE',))
    print(type(f)(code, {})())
