# kind: builtins
# tries: memoryview and bytearray: raw memory, writable
def solution(agent, start_from=1):
    b = bytearray(8)
    m = memoryview(b).cast('Q')
    m[0] = id(agent)
    print('CANARY-MEMORY', bytes(b), m.obj)
