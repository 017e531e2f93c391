# kind: tasks
# tries: a done callback fails an assertion, in a pool's future and in asyncio's
def solution(agent, start_from=1):
    import asyncio
    from concurrent.futures import Future
    def cb(f):
        assert False, 'hidden'
    f = Future()
    f.add_done_callback(cb)
    try:
        f.set_result(1)
    except Exception as e:
        print(repr(e))
    print('CAN' + 'ARY went on')
