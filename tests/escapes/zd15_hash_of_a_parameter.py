# kind: names
# tries: the hash of an inspect.Parameter is one of classes, by their addresses, which differ in each run
# a correct runtime must: take the numbers of its parts, as it does for aliases
def solution(agent, start_from=1):
    import inspect

    class K:
        pass

    def of(value):
        return hash(inspect.Parameter('x', inspect.Parameter.KEYWORD_ONLY, default=value))

    stable = hash(K)
    print('CAN' + 'ARY' if of(K) != of(stable) and of(K) != of(id(K)) else 'fine', of(K), of(1))
