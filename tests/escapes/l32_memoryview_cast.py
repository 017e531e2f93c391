# id: l32_memoryview_cast
# kind: builtins
# tries: memoryview and bytearray: raw memory, writable
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    b = bytearray(8)
    m = memoryview(b).cast('Q')
    m[0] = id(agent)
    print('CANARY-MEMORY', bytes(b), m.obj)
