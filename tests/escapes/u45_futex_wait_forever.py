# kind: cpu
# tries: sleep in the kernel for ever: neither processor time nor a turn is used
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    word = ctypes.c_int(0)
    import _thread
    lock = _thread.allocate_lock()
    lock.acquire()
    lock.acquire()
