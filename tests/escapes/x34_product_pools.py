# kind: mem
# tries: product and permutations of large pools
def solution(agent, start_from=1):
    import itertools
    print(len(list(itertools.product(range(10**6), repeat=3))), len(list(itertools.permutations(range(30)))))
