# kind: swallow
# tries: exc_info of an assertion is caught and then a limit is hidden behind it
def solution(agent, start_from=1):
    import sys
    def f():
        try:
            try:
                assert False, 'a'
            except AssertionError as e:
                x = 'a' * 10 ** 10
        finally:
            print(sys.exc_info())
            try:
                raise AssertionError('b')
            except AssertionError:
                pass
            raise KeyError
    try:
        f()
    except KeyError:
        pass
    print('CAN' + 'ARY went on')
