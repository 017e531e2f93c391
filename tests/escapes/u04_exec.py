# kind: process
# tries: become another program: execve of the shell
# layer: cage
def solution(agent, start_from=1):
    import os
    os.execve('/bin/sh', ['sh', '-c', 'touch @MARKER@'], {})
