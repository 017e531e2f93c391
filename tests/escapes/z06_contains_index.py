# kind: crash
# tries: membership in bytes that its number empties
def solution(agent, start_from=1):
    ba = bytearray(b"A" * 3000000)
    class S:
        def __index__(self):
            ba.clear()
            return 66
    print(S() in ba)
