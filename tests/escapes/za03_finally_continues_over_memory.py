# kind: swallow
# tries: lose a lack of memory by a jump out of finally, then take more
def solution(agent, start_from=1):
    kept = []
    for i in range(100):
        try:
            try:
                kept.append(bytearray(2**62))
            finally:
                continue
        except MemoryError:
            kept.append('a' * 10**9)
    agent.goto('CANARY')
