# kind: parse
# tries: a byte order mark, zero-width letters and combining marks in names
def solution(agent, start_from=1):
    ágent = agent
    x‌ = 1
    print(ágent._secret)
