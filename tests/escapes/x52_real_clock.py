# kind: forge
# tries: ways to the machine's own clock
def solution(agent, start_from=1):
    import time, datetime
    starts = [time.time(), datetime.datetime.now().timestamp(), time.mktime(time.localtime()), datetime.datetime.today().timestamp()]

    for attempt in (lambda: time.clock_gettime(0), lambda: time.get_clock_info('time'), lambda: time.tzset(), lambda: datetime.datetime.now.func, lambda: datetime.datetime_CAPI):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
