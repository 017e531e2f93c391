# kind: walk
# tries: the iterator that __await__ gives leads to the coroutine's frame
def solution(agent, start_from=1):
    async def c():
        return 1
    it = c().__await__()
    for name in ('cr_frame', 'gi_frame', 'send', 'throw', 'close', '__class__', '__next__', '__self__', '__dict__', 'cr_code'):
        try:
            print(name, getattr(it, name))
        except Exception as e:
            print(repr(e)[:70])
