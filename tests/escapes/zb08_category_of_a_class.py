# kind: walk
# tries: a category that returns a class leads to Python's type, and so to every class and to globals
# a correct runtime must: take classes of warnings alone
def solution(agent, start_from=1):
    import json, warnings
    with warnings.catch_warnings(record=True) as caught:
        try:
            warnings.warn('text', lambda text: int)
        except TypeError as e:
            print(e)
    if caught:
        kind = caught[0].category
        mine = kind('Mine', (kind,), {'__plan_class__': True})
        print('CAN' + 'ARY', mine)
        read = [k for k in mine.__subclasses__(object) if k.__name__ == 'attrgetter'][0]
        print(sorted(read('__globals__')(json.dumps))[:3])
