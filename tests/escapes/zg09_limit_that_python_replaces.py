# kind: swallow
# tries: the memory runs out in a method of the plan that struct, islice, %, in or csv calls in C: they clear any error and raise another, or none
# a correct runtime must: end the plan with the limit
def solution(agent, start_from=1):
    import csv
    import itertools
    import struct

    class Full:
        def fill(self, *given):
            ran.append(1)
            bytes(10**15)

        __float__ = __index__ = __getattr__ = fill

    ways = {
        'csv': lambda: csv.register_dialect('own', Full()),
        'struct': lambda: struct.pack('<dfe', Full(), 1, 1),
        'islice': lambda: itertools.islice([], Full()),
        'percent': lambda: b'%f' % Full(),
        'in': lambda: Full() in b'a',
    }
    ran = []
    for name, way in ways.items():
        try:
            way()
        except (TypeError, ValueError, struct.error) as e:
            print(type(e).__name__, e)
        if ran:
            print('CAN' + 'ARY goes on after a limit', name)
