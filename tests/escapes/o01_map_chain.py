# kind: crash
# tries: a million iterators within one another: next() recurses in C
def solution(agent, start_from=1):
    it = iter([1])
    for _ in range(10**6):
        it = map(abs, it)
    print(next(it))
