# kind: process
# tries: a thread below Python's threading module
# layer: cage
def solution(agent, start_from=1):
    import _thread, time
    _thread.start_new_thread(lambda: open('@MARKER@', 'w'), ())
    print('CANARY-THREAD')
