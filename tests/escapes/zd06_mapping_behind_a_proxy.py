# kind: names
# tries: a comparison of a mapping proxy gives the other side the dict behind it: the empty metadata of all fields
# a correct runtime must: give copies
def solution(agent, start_from=1):
    import dataclasses
    got = []

    class Other:
        def __eq__(self, other):
            got.append(other)
            return True

        def __ror__(self, other):
            got.append(other)

    for look in (lambda table: table == Other(), lambda table: table | Other()):
        try:
            look(dataclasses.field().metadata)
            got.pop()['left'] = 1
        except (AttributeError, TypeError, IndexError) as e:
            print(type(e).__name__, e)
    print('CAN' + 'ARY' if len(dataclasses.field().metadata) else 'fine', dict(dataclasses.field().metadata))
