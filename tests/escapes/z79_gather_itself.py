# kind: crash
# tries: futures that hold themselves, are shown and copied
def solution(agent, start_from=1):
    import asyncio, copy
    f = asyncio.Future()
    f.set_result(f)
    for act in (lambda: repr(f), lambda: copy.deepcopy(f), lambda: copy.copy(f), lambda: hash(f), lambda: f == f, lambda: str(f.result()), lambda: asyncio.Future[int], lambda: f._scheduler, lambda: f.get_loop(), lambda: f.__class__, lambda: asyncio.Future.__init__, lambda: asyncio.Future._scheduler, lambda: getattr(f.__await__(), 'gi_frame')):
        try:
            print(repr(act())[:70])
        except Exception as e:
            print(repr(e)[:70])
