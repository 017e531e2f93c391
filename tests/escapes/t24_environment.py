# id: t24_environment
# kind: memory
# tries: the environment: os.environ, the C library's environ, what lies on the stack behind it
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes, os
    print(dict(os.environ))
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')
    for i in range(1000):
        if not environ or not environ[i]: break
        print(environ[i])
