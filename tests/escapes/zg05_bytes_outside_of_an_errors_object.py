# kind: walk
# tries: a UnicodeDecodeError names a place before its bytes: its text shows the byte there, so the address of a type, and all memory; or the object is a list, or the reason moves the place
# a correct runtime must: show no byte outside of an error's object
def solution(agent, start_from=1):
    data = b'abc'

    def peek(at):
        text = str(UnicodeDecodeError('utf-8', data, at, at + 1, 'x'))
        return int(text.split('byte 0x')[1][:2], 16) if 'byte 0x' in text else 0

    size = sum(peek(-16 + i) << 8 * i for i in range(8))
    kind = sum(peek(-24 + i) << 8 * i for i in range(8))
    print('CAN' + f'ARY: the type of bytes is at {kind:#x}' if size == 3 else 'fine')

    class Other(UnicodeDecodeError):
        pass

    class Reason(str):
        def __str__(self):
            error.start, error.end = -16, -15
            return 'reason'

    for given, reason in (([1, 2, 3], 'x'), (data, Reason('x'))):
        error = Other('utf-8', data, 0, 1, reason)
        try:
            error.object = given
            text = str(error)
        except (AttributeError, TypeError, ValueError) as e:
            text = str(e)
        print('CAN' + 'ARY' if 'byte 0x' in text and 'byte 0x61' not in text else 'fine', text)
