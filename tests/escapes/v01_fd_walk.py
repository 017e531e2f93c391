# kind: fd
# tries: read, write and look at every descriptor from 0 to 1024 but the job's own
# layer: cage
def solution(agent, start_from=1):
    import os
    for fd in range(1024):
        if fd != 3:
            for use in (lambda: os.read(fd, 1), lambda: os.write(fd, b'FORGED'), lambda: os.fstat(fd)):
                try:
                    use()
                    print('CANARY-FD', fd)
                except OSError:
                    pass
