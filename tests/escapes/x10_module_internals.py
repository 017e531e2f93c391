# kind: walk
# tries: modules that modules have imported themselves
def solution(agent, start_from=1):
    import statistics, calendar, csv, difflib, urllib.parse, uuid, decimal, zoneinfo

    for attempt in (lambda: statistics.sys, lambda: statistics.random, lambda: calendar.sys.modules, lambda: csv.io, lambda: difflib.sys, lambda: urllib.parse.sys, lambda: uuid.os, lambda: decimal.sys, lambda: zoneinfo.reset_tzpath, lambda: urllib.request, lambda: urllib.error):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
