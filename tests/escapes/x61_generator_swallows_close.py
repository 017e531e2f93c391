# kind: swallow
# tries: a generator ignores being closed, and goes on in its finally
def solution(agent, start_from=1):
    def g():
        while True:
            try:
                yield 1
            except Exception:
                print('CANARY-CAUGHT')
            finally:
                for _ in range(10 ** 9):
                    pass
    it = g()
    next(it)
    it.close()
    agent.goto('CANARY')
