# kind: format
# tries: texts of modules, classes and library functions tell paths and addresses
def solution(agent, start_from=1):
    import datetime, decimal, functools, heapq, itertools, json, statistics, textwrap, time, urllib.parse, uuid, zoneinfo, csv, io, sys, re
    for value in (datetime, decimal, functools.partial(print), functools.wraps(print), functools.lru_cache(print), heapq.merge([1]), itertools.count(), statistics.mean, textwrap.wrap, time.sleep, urllib.parse.quote, uuid.uuid4, zoneinfo.ZoneInfo, csv.reader([]), csv.writer(io.StringIO()), io.StringIO(), sys.stdout, json.dump, re.match("a", "a"), functools.singledispatch(print), functools.cmp_to_key(print), csv.DictReader([])):
        text = repr(value) + str(value) + f"{value}"
        if "/" in text or ".py" in text or "0x" in text: print("CANARY-PATH", text)
