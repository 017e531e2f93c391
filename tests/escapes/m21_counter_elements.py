# id: m21_counter_elements
# kind: mem
# tries: Counter.elements: a count is a length
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    from collections import Counter
    print(len(list(Counter({'a': 10**11}).elements())))
