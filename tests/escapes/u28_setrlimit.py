# id: u28_setrlimit
# kind: kernel
# tries: raise its own limits
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    print('CANARY-RLIMIT')
