# id: u23_segfault
# kind: process
# tries: follow a wild pointer, with a handler for the signal that loops
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes, signal
    signal.signal(signal.SIGSEGV, signal.SIG_IGN)
    ctypes.string_at(8)
