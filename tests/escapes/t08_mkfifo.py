# id: t08_mkfifo
# kind: fs
# tries: make the marker as a pipe, or as a device
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    os.mkfifo('@MARKER@')
