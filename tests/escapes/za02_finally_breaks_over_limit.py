# kind: swallow
# tries: break and continue in finally go on after a limit, again and again
def solution(agent, start_from=1):
    while True:
        try:
            while True:
                pass
        finally:
            continue
    agent.goto('CANARY')
