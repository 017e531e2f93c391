# kind: fs
# tries: stat, access and readlink tell whether files exist, and their sizes
# layer: cage
def solution(agent, start_from=1):
    import os
    for ask_for in (os.stat, os.lstat, lambda p: os.access(p, os.R_OK) or 1 / 0, os.readlink):
        for path in ('@SECRET@', '/etc/passwd', '/proc/self/exe'):
            try:
                print('CANARY-STAT', ask_for(path))
            except (OSError, ZeroDivisionError):
                pass
