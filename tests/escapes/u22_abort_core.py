# id: u22_abort_core
# kind: process
# tries: abort and a core dump
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.abort()
