# kind: class
# tries: _ignore_ of an Enum names the mark of the plan's classes, also by a text that only equals it, so its members pass for Python's own values, also as tags, where one that clears the element in __eq__ crashes find
# a correct runtime must: keep the mark, whatever an Enum ignores
def solution(agent, start_from=1):
    import enum
    from xml.etree import ElementTree

    class Name(str):
        def __hash__(self):
            return hash('__plan_' + 'class__')

        def __eq__(self, other):
            return other == '__plan_' + 'class__'

    class Names(str):
        def replace(self, *given):
            return self

        def split(self):
            return ['__plan_' + 'class__']

    for ignored in (['__plan_' + 'class__'], [Name('x')], Names('x')):
        try:
            class Tag(enum.Enum):
                _ignore_ = ignored
                A = 1

            (tag,) = list(Tag)
            print('CAN' + 'ARY', ElementTree.Element(tag).tag is tag)
        except TypeError as e:
            print('fine', e)
        try:
            Tag.mine = 1
        except AttributeError as e:
            print('CAN' + 'ARY: a class without its mark', e)
