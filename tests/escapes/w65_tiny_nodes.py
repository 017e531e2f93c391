# kind: frames
# tries: checkpoints of the smallest nodes there are: a byte each on the way, sixty in the host's memory, one checkpoint after another
# layer: cage
def solution(agent, start_from=1):
    import os
    def frame(head, count):
        body = head + b'\x93\x80\xdd' + count.to_bytes(4, 'big') + b'\x90' * count + b'\x80'
        return len(body).to_bytes(4, 'big') + body
    for step in range(1, 6):
        os.write(3, frame(b'\x93\xa9StepFrame' + bytes([step]), 1_000_000))
    body_head = b'\x99\xa8EndFrame\xa6failed\xc0\x01\xa1E\xa1m' + b'\xcb' + bytes(8) + b'\xcb' + bytes(8)
    os.write(3, frame(body_head, 1_200_000))
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
