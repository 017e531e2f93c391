# kind: exc
# tries: an uncaught error's class has a name of ten megabytes with line ends
def solution(agent, start_from=1):
    class E(Exception): pass
    E.__name__ = 'N' * 10 ** 7 + '\n[Step 9] CANARY'
    E.__qualname__ = E.__name__
    raise E('x')
