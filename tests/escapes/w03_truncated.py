# kind: frames
# tries: half a frame, then silence
# layer: cage
def solution(agent, start_from=1):
    import os
    os.write(3, b'\x00\x00\x01\x00' + b'\x92\xabOutputFrame')
    while True: pass
