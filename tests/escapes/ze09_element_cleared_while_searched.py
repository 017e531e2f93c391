# kind: crash
# tries: a tag that is no text clears the element while find compares it: Python goes on in freed memory
# a correct runtime must: take texts as tags, or raise an error, without a crash of the worker
def solution(agent, start_from=1):
    from xml.etree import ElementTree

    class Tag:
        def __eq__(self, other):
            root.clear()
            return False

    class Path(str):
        def __eq__(self, other):
            root.clear()
            return False

        __hash__ = str.__hash__

    for tag, path in ((Tag(), 'x'), ('b', Path('x'))):
        for look in ('find', 'findall', 'findtext'):
            root = ElementTree.Element('r')
            try:
                root.extend([ElementTree.Element(tag) for _ in range(10)])
                print(getattr(root, look)(path))
            except (TypeError, ValueError, RuntimeError) as e:
                print(type(e).__name__, e)
