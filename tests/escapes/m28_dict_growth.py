# kind: mem
# tries: a dict that doubles itself by its own values
def solution(agent, start_from=1):
    d = {}
    while True:
        d[len(d)] = [None] * 1000
