# id: q13_nested_handlers
# kind: swallow
# tries: a limit strikes while handlers are nested fifty deep, each with a finally that loops
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    def go(n):
        try:
            go(n - 1) if n else [0 for _ in range(10**10)]
        except Exception:
            go(n)
        finally:
            for _ in range(10**10):
                pass
    go(50)
