# kind: swallow
# tries: a finally turns a memory error into StopIteration, which a loop over a map takes for its end: no handler is needed
# a correct runtime must: end the plan as stopped or failed, whatever the plan does after it; nothing may hide the limit or the assertion
def solution(agent, start_from=1):
    def fill(_):
        try:
            rows = [0]
            while True:
                rows = rows + rows
        finally:
            next(iter(()))
    if start_from <= 1:
        for _ in map(fill, [1, 2, 3]):
            pass
        print('CANARY-SWALLOWED')
        assert agent
