# id: k31_code_replace
# kind: frame
# tries: a lambda's __code__.replace(co_code=…): own bytecode
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    f = lambda: 0
    code = f.__code__.replace(co_code=b'\x64\x00\x53\x00', co_consts=('CANARY-CODE',))
    print(type(f)(code, {})())
