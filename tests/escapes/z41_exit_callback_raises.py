# kind: swallow
# tries: a callback of a stack replaces the assertion by an error that is caught
def solution(agent, start_from=1):
    import contextlib
    def f():
        try:
            with contextlib.ExitStack() as s:
                s.callback(lambda: 1 / 0)
                assert False, 'hidden'
        except ZeroDivisionError:
            print('caught')
    f()
    print('CAN' + 'ARY went on')
