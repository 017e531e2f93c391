# id: u06_system
# kind: process
# tries: the C library's system()
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    ctypes.CDLL(None).system(b'touch @MARKER@')
