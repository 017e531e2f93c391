# id: t04_o_path
# kind: fs
# tries: O_PATH opens without reading, and is read by way of /proc/self/fd
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    fd = os.open('@SECRET@', os.O_PATH)
    print(open(f'/proc/self/fd/{fd}').read())
