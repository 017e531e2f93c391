# kind: class
# tries: _ignore_ of an Enum names the mark of the plan's classes, so its members pass for Python's own values, also as tags, where one that clears the element in __eq__ crashes find
# a correct runtime must: keep the mark, whatever an Enum ignores
def solution(agent, start_from=1):
    import enum
    from xml.etree import ElementTree

    class Tag(enum.Enum):
        _ignore_ = ['__plan_' + 'class__']
        A = 1

    (tag,) = list(Tag)
    try:
        print('CAN' + 'ARY', ElementTree.Element(tag).tag is tag)
    except TypeError as e:
        print('fine', e)
