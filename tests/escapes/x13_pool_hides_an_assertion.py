# kind: tasks
# tries: a failed assertion as the exception of a future, and of each
def solution(agent, start_from=1):
    def bad(*_):
        assert False, 'bad'
    import concurrent.futures
    future = concurrent.futures.ThreadPoolExecutor().submit(bad)
    print('CANARY', future.exception())
    try:
        each(bad, [1, 2])
    except Exception:
        agent.goto('CANARY')
