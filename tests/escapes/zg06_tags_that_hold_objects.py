# kind: crash
# tries: a tag is a tuple of objects of the plan, or one that deepcopy takes from the plan's memo: its comparison frees the tag while Python compares it
# a correct runtime must: take texts as tags, or raise an error, without a crash of the worker
def solution(agent, start_from=1):
    import copy
    from xml.etree import ElementTree

    class Part:
        def __eq__(self, other):
            root.tag = 'x'
            held.append([(i, i) for i in range(1000)])
            return True

        __hash__ = None

    held, first = [], (1, [])
    for tag in (first, 'text'):
        try:
            copied = copy.deepcopy(ElementTree.Element(tag), {id(tag): Part()})
            print('CAN' + 'ARY' if type(copied.tag) is Part else 'fine')
        except TypeError as e:
            print('fine', e)
    root = ElementTree.Element('r')
    for i in range(100):
        try:
            root.tag = tuple([Part() for _ in range(4)] + [i])
            print(list(root.iter((1, 2, 3, 4, i))))
        except (TypeError, ValueError, RuntimeError) as e:
            print(type(e).__name__, e)
