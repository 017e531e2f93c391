# kind: walk
# tries: math.__loader__.load_module by a built-up name
def solution(agent, start_from=1):
    import math
    loader = getattr(math, '_' * 2 + 'loader' + '_' * 2)
    print(loader.load_module('posix').listdir('/'), 'CANARY-WALK')
