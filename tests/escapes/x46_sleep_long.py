# kind: cpu
# tries: sleeping for days, in small portions and by odd numbers
def solution(agent, start_from=1):
    import time
    for seconds in (1e-9, 0.01, True, 10**9):
        for _ in range(10**5):
            time.sleep(seconds)
