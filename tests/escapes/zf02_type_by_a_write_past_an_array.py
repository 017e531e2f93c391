# kind: walk
# tries: a ChainMap writes raw into its array, past the end when the number's __index__ cuts it: into a list, which then holds Python's own type, whose address an error's text has told
# a correct runtime must: write numbers alone into arrays, whatever writes, and show no byte outside of an error's object
def solution(agent, start_from=1):
    import array
    import collections

    def peek(data, at):
        def one(i):
            return int(str(UnicodeDecodeError('utf-8', data, i, i + 1, 'x')).split('byte 0x')[1][:2], 16)
        return sum(one(at + i) << 8 * i for i in range(8))

    class Number:
        def __index__(self):
            lists.pop(at)
            del numbers[cut]
            return target

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
        collections.ChainMap(numbers)[step // 8] = Number()
    except (IndexError, TypeError, ValueError) as e:
        print('fine', type(e).__name__)
    for value in (value for each in lists.values() for value in each):
        if value is not Number and not isinstance(value, bytes):
            print('CAN' + 'ARY', value, value('Made', (), {'__reduce_ex__': 1}), value is type)
