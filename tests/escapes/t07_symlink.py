# kind: fs
# tries: make the marker as a symbolic link, or as a hard link to the secret
# layer: cage
def solution(agent, start_from=1):
    import os
    for make in (os.symlink, os.link):
        try:
            make('@SECRET@', '@MARKER@')
        except OSError:
            pass
