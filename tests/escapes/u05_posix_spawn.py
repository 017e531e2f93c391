# kind: process
# tries: posix_spawn: vfork and exec by the C library
# layer: cage
def solution(agent, start_from=1):
    import os
    os.posix_spawn('/bin/sh', ['sh', '-c', 'touch @MARKER@'], {})
