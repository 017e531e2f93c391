# kind: mem
# tries: sizes just below those that Python refuses by arithmetic
def solution(agent, start_from=1):
    from collections import deque
    import array
    class N(int):
        def __int__(self):
            return 0
        def __gt__(self, other):
            return True
        __index__ = __int__
    ways = [lambda: deque([1], maxlen=10**12) * 10**12, lambda: 'a' * (2**63 - 1 - 49), lambda: [0] * (2**60), lambda: array.array('d', [0]) * 2**60, lambda: 1 << 2**69, lambda: 1 << 2**66, lambda: f'{1:>{2**63 - 1}}', lambda: '%*d' % (2**63 - 1, 1), lambda: '%00000000000000000009999999999d' % 1, lambda: format(1, '0' * 30 + '9' * 12), lambda: 'a'.ljust(2**63 - 1), lambda: 'a' * N(10**12), lambda: 1 << N(10**12), lambda: 'a'.center(N(10**12))]
    kept = []
    for way in ways:
        try:
            kept.append(way())
        except (MemoryError, OverflowError, ValueError, TypeError) as e:
            print(type(e).__name__, e)
    agent.goto('CANARY')
