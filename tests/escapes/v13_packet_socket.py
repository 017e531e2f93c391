# id: v13_packet_socket
# kind: net
# tries: raw packets and vsock
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    for family, kind in ((17, 3), (40, 1), (2, 3), (38, 5)):
        if libc.socket(family, kind, 0) >= 0: print('CANARY-SOCKET', family)
