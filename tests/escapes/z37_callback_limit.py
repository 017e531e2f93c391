# kind: tasks
# tries: a done callback reaches a limit behind an error
def solution(agent, start_from=1):
    from concurrent.futures import Future
    def cb(f):
        try:
            x = 'a' * 10 ** 10
        finally:
            raise ValueError('b')
    f = Future()
    f.add_done_callback(cb)
    f.set_result(1)
    print('CAN' + 'ARY went on')
