# kind: mem
# tries: replace of nothing puts a long text between all letters
def solution(agent, start_from=1):
    print(len(('a' * 10**6).replace('', 'x' * 10**5)))
