# kind: class
# tries: a class of a dialect of one's own leads to the module's classes and changes them
# a correct runtime must: leave the module's classes as they are
def solution(agent, start_from=1):
    import csv, io
    class Mine(csv.excel):
        delimiter = ';'
        def look(self):
            return super()
    for kind in Mine.__mro__[1:]:
        for name in ('delimiter', '_name', '__init__', '_validate', 'quoting'):
            for write in (lambda: setattr(kind, name, 1), lambda: delattr(kind, name), lambda: type.__setattr__(kind, name, 1), lambda: object.__setattr__(kind, name, 1)):
                try:
                    write()
                    print('CAN' + 'ARY', kind, name)
                except (AttributeError, TypeError):
                    pass
    for owner in (Mine, Mine(), Mine().look(), csv.excel, csv.Dialect):
        for name in ('_validate', '__init__', '__subclasses__', '__dict__', '__globals__'):
            try:
                got = getattr(owner, name)
            except (AttributeError, TypeError):
                continue
            for inner in ('__globals__', '__code__', '__func__', '__self__', '__defaults__'):
                try:
                    print('CAN' + 'ARY', name, getattr(got, inner))
                except (AttributeError, TypeError):
                    pass
            if name == '__subclasses__' and got() not in ([], [Mine]):
                print('CAN' + 'ARY', got())
    print(list(csv.reader(['a,b;c'])), list(csv.reader(['a,b;c'], Mine())))
