# id: t07_symlink
# kind: fs
# tries: make the marker as a symbolic link, or as a hard link to the secret
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    for make in (os.symlink, os.link):
        try:
            make('@SECRET@', '@MARKER@')
        except OSError:
            pass
