# id: k33_async_frames
# kind: frame
# tries: coroutines have cr_frame, async generators ag_frame
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    async def c():
        return 1
    print('CANARY-WALK', c().cr_frame.f_globals)
