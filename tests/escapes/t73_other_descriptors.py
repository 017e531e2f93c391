# kind: fd
# tries: every descriptor but the worker's socket is read and written
# a correct runtime must: refuse the call: nothing but the socket is open
# layer: cage
def solution(agent, start_from=1):
    import os
    for fd in [*range(0, 3), *range(4, 2000)]:
        for work in (lambda: os.read(fd, 1), lambda: os.write(fd, b'x')):
            try:
                work()
                print('CANARY-FD', fd)
            except OSError as error:
                if error.errno != 9: print('CANARY-FD', fd, error)
