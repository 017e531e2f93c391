# kind: ckpt
# tries: the order of a set of futures, tasks and plan's objects differs between runs
def solution(agent, start_from=1):
    import asyncio
    from concurrent.futures import Future, wait
    if start_from <= 1:
        fs = [Future() for i in range(20)]
        for f in fs[::3]: f.set_result(1)
        done, rest = wait(fs, timeout=0.01) if False else ({f for f in fs if f.done()}, {f for f in fs if not f.done()})
        a = [fs.index(f) for f in done]
        b = [hash(f) % 7 for f in fs]
        class C: pass
        c = [hash(C()) % 100, id(C()) % 100]
        print(a, b, c)
        assert a
    if start_from <= 2:
        print(a, b, c)
        assert b
