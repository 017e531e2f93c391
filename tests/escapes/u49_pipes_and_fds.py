# id: u49_pipes_and_fds
# kind: fd
# tries: make descriptors and fill pipes
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    ends = os.pipe()
    print('CANARY-PIPE', ends)
