# kind: swallow
# tries: catching the end that a sleep brings
def solution(agent, start_from=1):
    import time
    while True:
        try:
            time.sleep(0.3)
        except Exception:
            pass
        finally:
            n = 1
