# kind: crash
# tries: a chain of a million exceptions: freeing it, and walking it for its context
def solution(agent, start_from=1):
    e = None
    for i in range(10**6):
        try:
            raise ValueError(i) from e
        except ValueError as caught:
            e = caught
            last = e
    raise e
