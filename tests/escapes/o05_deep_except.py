# kind: crash
# tries: an except clause with a nested tuple of classes, found while an exception is in flight
def solution(agent, start_from=1):
    t = (ValueError,)
    for _ in range(10**5):
        t = (t,)
    try:
        1 / 0
    except t:
        pass
