# id: q03_finally_return
# kind: swallow
# tries: return, break and continue in a finally drop what is in flight
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    def f():
        while True:
            try:
                while True:
                    pass
            finally:
                continue
    f()
