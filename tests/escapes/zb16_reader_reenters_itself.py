# kind: crash
# tries: a csv reader whose lines take the reader's next row meanwhile loses its list of fields
# a correct runtime must: raise an error, without a crash of the worker
def solution(agent, start_from=1):
    import csv
    class Lines:
        number = 0
        def __iter__(self):
            return self
        def __next__(self):
            self.number += 1
            if self.number == 1:
                next(rows)
            return 'a,b'
    rows = csv.reader(Lines())
    try:
        print(next(rows))
    except (RuntimeError, csv.Error) as e:
        print(e)
