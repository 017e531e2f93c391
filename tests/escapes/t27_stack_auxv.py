# id: t27_stack_auxv
# kind: memory
# tries: read on behind the stack's top, where the kernel puts arguments and environment
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes, sys
    word = ''.join(['CAN', 'ARY-']).encode()
    here = ctypes.create_string_buffer(b'x' * 64)
    data = ctypes.string_at(ctypes.addressof(here), 1 << 16)
    if word in data: print(data)
    argv = ctypes.c_void_p.in_dll(ctypes.CDLL(None), 'program_invocation_name')
    data = ctypes.string_at(argv.value, 1 << 12)
    if word in data: print(data)
