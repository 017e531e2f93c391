# id: u04_exec
# kind: process
# tries: become another program: execve of the shell
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.execve('/bin/sh', ['sh', '-c', 'touch @MARKER@'], {})
