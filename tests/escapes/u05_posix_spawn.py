# id: u05_posix_spawn
# kind: process
# tries: posix_spawn: vfork and exec by the C library
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.posix_spawn('/bin/sh', ['sh', '-c', 'touch @MARKER@'], {})
