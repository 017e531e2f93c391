# kind: crash
# tries: a pool's callbacks call each other at once, without end
def solution(agent, start_from=1):
    from concurrent.futures import Future
    f = Future()
    f.set_result(1)
    def g(x): f.add_done_callback(g)
    f.add_done_callback(g)
    print('after')
    f.add_done_callback(f.add_done_callback)
    print('on')
