# kind: tasks
# tries: waits for futures that nobody ends: times that are no times, time that passes for nothing
# a correct runtime must: stop it at a limit
def solution(agent, start_from=1):
    import time, datetime
    from concurrent.futures import Future, wait, as_completed
    f = Future()
    class Never:
        _done = _error = False
        def _when_done(self, wake):
            wake()
    for seconds in (float('nan'), float('inf'), -1, 1e300, 10**400, 'a', True, None):
        for use in (lambda: f.result(seconds), lambda: f.exception(seconds), lambda: wait([f], seconds), lambda: list(as_completed([f], seconds)), lambda: wait([Never(), agent, 5], seconds)):
            try:
                use()
            except Exception as e:
                print(type(e).__name__)
    f.set_running_or_notify_cancel()
    f.cancel()
    for name in ('_scheduler', '_is_running', '_finish', '_number', '_wakes', '__dict__', '_condition', '_state'):
        try:
            print('CAN' + 'ARY', getattr(f, name))
        except AttributeError:
            pass
    print(datetime.datetime.now().year > 2000)
    while True:
        wait([Future()], timeout=1e6)
        time.time()
