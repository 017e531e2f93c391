# kind: swallow
# tries: a time-out strikes inside a generator whose consumer catches everything it can
def solution(agent, start_from=1):
    def spin():
        while True:
            pass
    def safe(f):
        try:
            return f()
        except Exception:
            return safe(f)
    while True:
        try:
            sum(safe(spin) for _ in range(10**9))
        except Exception:
            continue
