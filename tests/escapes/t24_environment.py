# kind: memory
# tries: the environment: os.environ, the C library's environ, what lies on the stack behind it
# layer: cage
def solution(agent, start_from=1):
    import ctypes, os
    print(dict(os.environ))
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')
    for i in range(1000):
        if not environ or not environ[i]: break
        print(environ[i])
