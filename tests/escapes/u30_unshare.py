# id: u30_unshare
# kind: kernel
# tries: a user namespace of its own, in which it is root
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).unshare(0x10000000) == 0: print('CANARY-UNSHARE')
