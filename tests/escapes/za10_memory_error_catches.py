# kind: swallow
# tries: handlers that name MemoryError, or a class of it, catch what the limit of memory ends
def solution(agent, start_from=1):
    class Mine(MemoryError):
        pass
    ways = [lambda: 'a' * 10**11, lambda: [0] * 10**10, lambda: bytearray(2**62), lambda: list(range(10**10)), lambda: 1 << 10**9, lambda: ' ' * 10**8 * 10**4]
    for way in ways:
        try:
            way()
        except (MemoryError, OverflowError, Mine, *MemoryError.__mro__[:2]):
            agent.goto('CANARY')
        finally:
            agent.goto('CANARY')
