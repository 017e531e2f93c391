# kind: fs
# tries: open and read by the system calls themselves, past Python's open
# layer: cage
def solution(agent, start_from=1):
    import os
    fd = os.open('@SECRET@', os.O_RDONLY)
    print(os.read(fd, 100))
