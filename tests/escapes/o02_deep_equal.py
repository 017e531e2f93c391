# kind: crash
# tries: compare two lists that are a million deep
def solution(agent, start_from=1):
    a, b = [], []
    for _ in range(10**6):
        a, b = [a], [b]
    print(a == b)
