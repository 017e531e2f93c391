# id: v19_eventfd_inotify
# kind: ipc
# tries: eventfd and inotify: to wait for, and to watch, what others do
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).inotify_init1(0) >= 0: print('CANARY-INOTIFY')
