# kind: crash
# tries: what is written to a slice of an element clears it while it becomes a list: Python goes on in its freed children
# a correct runtime must: write the elements, or raise an error, without a crash of the worker
def solution(agent, start_from=1):
    from xml.etree import ElementTree

    def clearing():
        root.clear()
        yield ElementTree.Element('n')

    root = ElementTree.Element('r')
    for _ in range(50):
        ElementTree.SubElement(root, 'c')
    try:
        root[0:2] = clearing()
    except (IndexError, TypeError, ValueError, RuntimeError) as e:
        print(type(e).__name__, e)
    print(list(root))
