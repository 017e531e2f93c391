# kind: process
# tries: follow a wild pointer, with a handler for the signal that loops
# layer: cage
def solution(agent, start_from=1):
    import ctypes, signal
    signal.signal(signal.SIGSEGV, signal.SIG_IGN)
    ctypes.string_at(8)
