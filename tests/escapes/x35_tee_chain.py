# kind: crash
# tries: iterators nested a hundred thousand deep: tee, chain, islice, accumulate, starmap
def solution(agent, start_from=1):
    import itertools
    i = iter([1])
    for n in range(10**5):
        i = [itertools.chain, itertools.accumulate, lambda x: itertools.islice(x, 5), itertools.pairwise, lambda x: itertools.tee(x)[0]][n % 5](i)
    print(next(i))
