# id: t10_destroy_file
# kind: fs
# tries: empty, unlink and chmod the secret: harm without reading
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.truncate('@SECRET@', 0)
    print('CANARY-TRUNCATE')
