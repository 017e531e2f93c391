# kind: swallow
# tries: nested finally blocks, loops and handlers hide which end passes
def solution(agent, start_from=1):
    def f():
        for i in range(3):
            try:
                try:
                    try:
                        assert False, 'the end'
                    except AssertionError:
                        raise
                    finally:
                        for k in range(2):
                            try:
                                raise ValueError
                            except ValueError:
                                break
                            finally:
                                continue
                finally:
                    while True:
                        try:
                            pass
                        finally:
                            break
            finally:
                if i < 2:
                    continue
                return i
    f()
    agent.goto('CANARY')
