# id: t09_rename
# kind: fs
# tries: move the secret to the marker's place
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.rename('@SECRET@', '@MARKER@')
