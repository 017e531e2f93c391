# kind: frames
# tries: frames of no bytes, without end
# layer: cage
def solution(agent, start_from=1):
    import os
    while True:
        os.write(3, bytes(4) * 4096)
