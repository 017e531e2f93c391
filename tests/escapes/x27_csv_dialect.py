# kind: walk
# tries: classes that the sniffer makes
def solution(agent, start_from=1):
    import csv
    d = csv.Sniffer().sniff("a,b\n1,2\n")

    for attempt in (lambda: d.mro(), lambda: getattr(d, '__' + 'subclasses__')(), lambda: csv.Dialect.mro, lambda: csv.get_dialect('excel').__class__.mro(), lambda: csv.get_dialect('excel').__init__, lambda: csv.register_dialect('x', agent) or csv.get_dialect('x').agent):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
