# kind: tasks
# tries: wait is given a list that changes, and results are read while they change
def solution(agent, start_from=1):
    import asyncio
    from concurrent.futures import Future, wait, as_completed
    fs = [Future() for i in range(5)]
    class I:
        def __iter__(self):
            for f in fs:
                f.set_result(1) if not f.done() else None
                yield f
    r = wait(I())
    r.done.clear()
    r.not_done.add(5)
    print(r, r._asdict(), r.count(5), r[0])
    for act in (lambda: r._replace, lambda: r.__class__, lambda: r._make, lambda: wait([5, agent]), lambda: as_completed([5]), lambda: wait({agent}), lambda: asyncio.run(asyncio.wait([agent]))):
        try:
            print(repr(act())[:80])
        except Exception as e:
            print(repr(e)[:80])
