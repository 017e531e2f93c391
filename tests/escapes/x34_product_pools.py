# id: x34_product_pools
# kind: mem
# tries: product and permutations of large pools
# a correct runtime must: stop at the budget, report a limit error, keep the host alive and within its memory
def solution(agent, start_from=1):
    import itertools
    print(len(list(itertools.product(range(10**6), repeat=3))), len(list(itertools.permutations(range(30)))))
