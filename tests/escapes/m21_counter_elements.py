# kind: mem
# tries: Counter.elements: a count is a length
def solution(agent, start_from=1):
    from collections import Counter
    print(len(list(Counter({'a': 10**11}).elements())))
