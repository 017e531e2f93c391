# kind: frames
# tries: bytes that are no frame at all
# layer: cage
def solution(agent, start_from=1):
    import os
    os.write(3, bytes(range(256)) * 16)
    while True: pass
