# kind: crash
# tries: a key function that clears and refills the list that is being sorted
def solution(agent, start_from=1):
    a = list(range(1000))
    def key(x):
        a.clear()
        a.extend(range(5))
        return -x
    try:
        a.sort(key=key)
    except ValueError:
        pass
    print(len(a))
