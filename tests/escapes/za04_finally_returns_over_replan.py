# kind: swallow
# tries: lose replan and give_up by a return in finally
def solution(agent, start_from=1):
    def f(end):
        try:
            end('now')
        finally:
            try:
                return 1
            except Exception:
                return 2
            finally:
                return 3
    f(replan)
    agent.goto('CANARY')
    f(give_up)
    agent.goto('CANARY')
