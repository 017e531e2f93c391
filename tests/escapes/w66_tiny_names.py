# kind: frames
# tries: checkpoints with hundreds of thousands of names of three letters, some of them dropped for no reason
# layer: cage
def solution(agent, start_from=1):
    import os
    def names(count, value):
        letters = b'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
        keys = [bytes([0xa3, a, b, c]) for a in letters for b in letters for c in letters][:count]
        return b'\xdf' + len(keys).to_bytes(4, 'big') + b''.join(k + value for k in keys)
    def frame(head):
        body = head + b'\x93' + names(100_000, b'\x00') + b'\x91\xc0' + names(100_000, b'\xa0')
        return len(body).to_bytes(4, 'big') + body
    for step in range(1, 6):
        os.write(3, frame(b'\x93\xa9StepFrame' + bytes([step])))
    os.write(3, frame(b'\x99\xa8EndFrame\xa6failed\xc0\x01\xa1E\xa1m' + b'\xcb' + bytes(8) + b'\xcb' + bytes(8)))
    if start_from <= 1:
        assert False
    if start_from <= 2:
        assert False
    if start_from <= 3:
        assert False
    if start_from <= 4:
        assert False
    if start_from <= 5:
        assert False
