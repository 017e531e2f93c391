# id: u29_setuid
# kind: kernel
# tries: become root again
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.setresuid(0, 0, 0)
    print('CANARY-ROOT')
