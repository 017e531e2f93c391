# kind: swallow
# tries: a failed assertion is read by exc_info, and raised or returned again
def solution(agent, start_from=1):
    import sys
    def f():
        try:
            assert False, 'mine'
        finally:
            e = sys.exception()
            print(repr(e), type(e).__mro__ if e else None)
            try:
                raise e
            except AssertionError as x:
                print('caught')
    try:
        print(f())
    except Exception as e:
        print('out', repr(e))
        raise KeyError
    print('CAN' + 'ARY went on')
