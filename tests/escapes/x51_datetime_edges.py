# kind: crash
# tries: dates, zones and formats at their edges
def solution(agent, start_from=1):
    import datetime, time, calendar
    D = datetime.datetime
    for make in (lambda: D.max + datetime.timedelta(1), lambda: D.fromtimestamp(10**18), lambda: time.gmtime(10**30), lambda: time.strftime("%" * 10**6), lambda: D(1, 1, 1).strftime("%10000000Y"), lambda: time.strftime("%9999999d"), lambda: calendar.monthcalendar(10**9, 1), lambda: D.now("x"), lambda: time.mktime((10**9,) * 9), lambda: time.asctime((1,) * 9), lambda: D.fromisoformat("\ud800" * 30), lambda: D.strptime("\0", "\0")):
        try:
            make()
        except (ValueError, OverflowError, TypeError, OSError):
            pass
