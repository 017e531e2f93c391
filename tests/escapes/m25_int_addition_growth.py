# kind: mem
# tries: additions double an int, no multiplication and no shift in sight
def solution(agent, start_from=1):
    n = 1
    for _ in range(10**6):
        n += n
    print(n.bit_length())
