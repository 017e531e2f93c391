# kind: swallow
# tries: the memory runs out in a method of the plan that struct, islice, %, in, csv or an element calls in C: they clear any error and raise another, or none
# a correct runtime must: end the plan with the limit
def solution(agent, start_from=1):
    import csv
    import io
    import itertools
    import operator
    import struct
    from xml.etree import ElementTree

    class Full:
        def fill(self, *given):
            ran.append(1)
            bytes(10**15)

        __float__ = __index__ = __getattr__ = __iter__ = fill

    ways = {
        'in': lambda: Full() in b'a',
        'not in': lambda: Full() not in bytearray(b'a'),
        'contains': lambda: operator.contains(b'a', Full()),
        'csv': lambda: csv.register_dialect('own', Full()),
        'csv writer': lambda: csv.DictWriter(io.StringIO(), ['a'], dialect=Full()),
        'struct': lambda: struct.pack('<dfe', Full(), 1, 1),
        'islice': lambda: itertools.islice([], Full()),
        'percent': lambda: b'%f' % Full(),
        'element': lambda: ElementTree.Element('a').extend(Full()),
    }
    ran = []
    for name, way in ways.items():
        try:
            way()
        except (TypeError, ValueError, struct.error) as e:
            print(type(e).__name__, e)
        if ran:
            print('CAN' + 'ARY goes on after a limit', name)
