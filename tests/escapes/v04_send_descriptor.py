# kind: fd
# tries: sendmsg with a descriptor: hand the host something of ours
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).sendmsg(3, ctypes.create_string_buffer(56), 0) >= 0: print('CANARY-SENDMSG')
