# id: u09_thread
# kind: process
# tries: a thread below Python's threading module
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import _thread, time
    _thread.start_new_thread(lambda: open('@MARKER@', 'w'), ())
    print('CANARY-THREAD')
