# id: t22_fsopen
# kind: fs
# tries: fsopen: a file system of one's own, by a call that old filters do not know
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).syscall(430, b'tmpfs', 0) >= 0: print('CANARY-FSOPEN')
