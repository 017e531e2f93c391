# kind: kernel
# tries: put characters into a terminal's input (TIOCSTI), on any descriptor there is
# layer: cage
def solution(agent, start_from=1):
    import ctypes
    libc = ctypes.CDLL(None)
    for fd in range(8):
        if libc.ioctl(fd, 0x5412, b'x') == 0: print('CANARY-TTY')
