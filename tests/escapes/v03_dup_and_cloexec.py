# id: v03_dup_and_cloexec
# kind: fd
# tries: dup of the job's socket, to hold it beyond the end
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    print('CANARY-DUP', os.dup(3))
