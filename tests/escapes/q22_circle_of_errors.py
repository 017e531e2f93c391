# kind: exc
# tries: a chain of contexts in a circle of hundreds, with a limit of memory behind it
# a correct runtime must: end the plan as stopped or failed, whatever the plan does after it; nothing may hide the limit or the assertion
def solution(agent, start_from=1):
    if start_from <= 1:
        errors = [ValueError(i) for i in range(300)]
        def f(i):
            try:
                if i == 299:
                    'a' * 10**11
                f(i + 1)
            finally:
                raise errors[i] from errors[i - 1]
        try: f(0)
        except Exception: pass
        print('CANARY-SWALLOWED')
        assert True

