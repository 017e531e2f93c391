# kind: crash
# tries: what is written to an element, a part of a slice or the key of an attribute clears it meanwhile: Python goes on in its freed children and attributes
# a correct runtime must: write the elements, or raise an error, without a crash of the worker
def solution(agent, start_from=1):
    from xml.etree import ElementTree

    class Clears:
        def __index__(self):
            root.clear()
            return 1

        def __hash__(self):
            return hash('k')

        def __eq__(self, other):
            root.attrib = {}
            held.append([{i: i for i in range(9)} for _ in range(100)])
            return False

    def clearing():
        root.clear()
        yield ElementTree.Element('n')

    def write():
        root[0:2] = clearing()

    def write_at_an_index():
        root[Clears():3] = []

    def delete():
        del root[Clears():3]

    held = []
    ways = {
        'write': write,
        'write at an index': write_at_an_index,
        'delete': delete,
        'read': lambda: root[Clears():3],
        'extend': lambda: root.extend(clearing()),
        'get': lambda: root.get(Clears()),
        'set': lambda: root.set(Clears(), 1),
    }
    for name, way in ways.items():
        root = ElementTree.Element('r', {'k': 'v', 'l': 'w'})
        for _ in range(50):
            ElementTree.SubElement(root, 'c')
        try:
            way()
        except (IndexError, TypeError, ValueError, RuntimeError) as e:
            print(name, type(e).__name__, e)
        print(name, len(root), len(root.attrib))
