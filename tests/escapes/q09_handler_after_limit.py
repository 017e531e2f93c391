# kind: swallow
# tries: after the limit on asks is hit, do actions in the handler and in the finally
def solution(agent, start_from=1):
    try:
        for _ in range(10**4):
            ask('x')
    except Exception:
        pass
    finally:
        for _ in range(10**4):
            agent.goto('FORGED')
