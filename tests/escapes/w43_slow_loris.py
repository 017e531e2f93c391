# kind: frames
# tries: a frame that arrives a byte at a time, and never ends
# layer: cage
def solution(agent, start_from=1):
    import os, time
    os.write(3, b'\x00\x00\xff\xff')
    while True:
        os.write(3, b'x')
        for _ in range(10**5): pass
