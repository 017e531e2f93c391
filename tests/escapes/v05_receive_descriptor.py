# id: v05_receive_descriptor
# kind: fd
# tries: recvmsg on the job's socket: is a descriptor waiting there?
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    if ctypes.CDLL(None).recvmsg(3, ctypes.create_string_buffer(56), 0x40) >= 0: print('CANARY-RECVMSG')
