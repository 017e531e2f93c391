# kind: crash
# tries: the separator of bytearray.hex empties the bytes while its length is taken
def solution(agent, start_from=1):
    ba = bytearray(b"A" * 3000000)
    class S(str):
        def __len__(self):
            ba.clear()
            return 1
    print(ba.hex(S(":"))[:50])
