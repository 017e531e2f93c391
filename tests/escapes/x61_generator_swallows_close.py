# id: x61_generator_swallows_close
# kind: swallow
# tries: a generator ignores being closed, and goes on in its finally
# a correct runtime must: reject at check time, or raise inside the plan, or stop it; nothing of the host may become visible or change
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
