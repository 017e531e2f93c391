# id: t20_chroot_chdir
# kind: fs
# tries: chroot, chdir and getcwd
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    for move in (lambda: os.chdir('/tmp'), lambda: os.chroot('/')):
        try:
            move()
            print('CANARY-CHDIR')
        except OSError:
            pass
