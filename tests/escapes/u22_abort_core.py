# kind: process
# tries: abort and a core dump
# layer: cage
def solution(agent, start_from=1):
    import os
    os.abort()
