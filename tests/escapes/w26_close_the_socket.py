# kind: frames
# tries: close the job's socket and stay alive
# layer: cage
def solution(agent, start_from=1):
    import os
    os.close(3)
    while True: pass
