# kind: crash
# tries: a csv.DictReader, which makes Python's own reader, has lines that take its next row meanwhile: the reader loses its list of fields
# a correct runtime must: raise an error, without a crash of the worker
def solution(agent, start_from=1):
    import csv

    class Lines:
        count = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.count += 1
            if self.count == 2:
                next(rows)
            if self.count > 6:
                raise StopIteration
            return '"a,b' if self.count == 1 else 'c",d'

    rows = csv.DictReader(Lines(), fieldnames=['x', 'y'])
    try:
        print(next(rows))
    except (ValueError, TypeError, RuntimeError, csv.Error) as e:
        print(type(e).__name__, e)
