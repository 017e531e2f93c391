# id: u20_timer_create
# kind: signal
# tries: timer_create and timerfd by the C library
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    timer = ctypes.c_void_p()
    if ctypes.CDLL(None).timer_create(1, None, ctypes.byref(timer)) == 0: print('CANARY-TIMER')
