# kind: swallow
# tries: the context of an error leads to what ends the plan
def solution(agent, start_from=1):
    import sys
    def f():
        try:
            assert False, 'mine'
        finally:
            try:
                1 / 0
            except ZeroDivisionError as z:
                print(repr(z.__context__), repr(sys.exception()), repr(sys.exception().__context__))
                g = ExceptionGroup('a', [z])
                print(g.exceptions[0].__context__)
                if type(z.__context__).__name__ not in ('NoneType', 'AssertionError'):
                    print('CAN' + 'ARY', z.__context__)
    f()
    print('CAN' + 'ARY went on')
