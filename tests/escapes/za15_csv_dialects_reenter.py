# kind: builtins
# tries: a dialect whose attributes are the plan's code changes the table meanwhile, or stays for the next plan
# a correct runtime must: keep nothing of it for the next plan
def solution(agent, start_from=1):
    import csv, io
    class Name(str):
        def __hash__(self):
            print('hash')
            return 1
        def __eq__(self, other):
            csv.register_dialect('inner', delimiter='|')
            return True
    class Text(str):
        def __str__(self):
            return 'CANARY'
    class Number(int):
        def __index__(self):
            csv.unregister_dialect('excel')
            return 0
    class Evil:
        lineterminator = Text('\r')
        quoting = Number(0)
        @property
        def delimiter(self):
            for name in list(csv.list_dialects()):
                csv.unregister_dialect(name)
            return Text(',')
        def __getattr__(self, name):
            csv.register_dialect('excel', delimiter=';', quoting=csv.QUOTE_ALL)
            raise AttributeError(name)
    for attempt in (lambda: csv.register_dialect(Name('a')), lambda: csv.register_dialect('a', Evil), lambda: csv.register_dialect('b', Evil()), lambda: csv.register_dialect('c', agent), lambda: csv.register_dialect('d', csv.get_dialect('b')), lambda: csv.unregister_dialect(Name('excel')), lambda: csv.get_dialect(Name('excel')), lambda: csv.writer(io.StringIO(), Evil()).writerow([1]), lambda: csv.register_dialect('excel', delimiter='x'), lambda: csv.register_dialect('unix', lineterminator='y' * 10**6)):
        try:
            attempt()
        except (csv.Error, TypeError, AttributeError, KeyError) as e:
            print(type(e).__name__)
    for i in range(2000):
        csv.register_dialect(f'd{i}', delimiter='|')
    for name in ('__class__', '__reduce__', '__dict__', '__doc__', '__self__'):
        try:
            got = getattr(csv.get_dialect('d1'), name)
            if name in ('__reduce__', '__dict__', '__self__'):
                print('CAN' + 'ARY', name, got)
        except (AttributeError, TypeError):
            pass
