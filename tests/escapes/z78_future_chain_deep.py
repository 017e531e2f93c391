# kind: crash
# tries: a million shields in a chain end at once
def solution(agent, start_from=1):
    import asyncio
    async def main():
        f = g = asyncio.Future()
        for i in range(100000):
            g = asyncio.shield(g)
        f.set_result(1)
        return await g
    print(asyncio.run(main()))
