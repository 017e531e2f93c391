# kind: mem
# tries: an endless iterator unpacked into a list
def solution(agent, start_from=1):
    import itertools
    print(len([*itertools.repeat(1)]))
