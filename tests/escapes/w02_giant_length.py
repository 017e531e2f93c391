# kind: frames
# tries: a length of four gigabytes, then a little, then nothing
# layer: cage
def solution(agent, start_from=1):
    import os
    os.write(3, b'\xff\xff\xff\xff' + b'x' * 1000)
    while True: pass
