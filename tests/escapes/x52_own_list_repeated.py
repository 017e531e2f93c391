# kind: mem
# tries: a list and a text of the plan's own class are repeated without the size guard
def solution(agent, start_from=1):
    class L(list): pass
    class S(str): pass
    class I(int): pass
    for work in (lambda: L([1]) * 10 ** 10, lambda: S('a') * 10 ** 11, lambda: [1] * I(10 ** 10), lambda: I(2) ** I(10 ** 9), lambda: I(1) << I(10 ** 11), lambda: S('%1000000000d') % 1, lambda: S('a').ljust(10 ** 11)):
        try:
            work()
            print('CANARY-SIZE')
        except Exception as e:
            print(type(e).__name__)
