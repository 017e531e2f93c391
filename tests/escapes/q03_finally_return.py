# kind: swallow
# tries: return, break and continue in a finally drop what is in flight
def solution(agent, start_from=1):
    def f():
        while True:
            try:
                while True:
                    pass
            finally:
                continue
    f()
