# kind: cpu
# tries: endless iterators in loops written in C, which no timer interrupts
def solution(agent, start_from=1):
    import itertools, functools, collections
    print(sum(itertools.count()))
