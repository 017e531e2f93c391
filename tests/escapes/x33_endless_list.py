# id: x33_endless_list
# kind: mem
# tries: an endless iterator unpacked into a list
# a correct runtime must: stop at the budget, report a limit error, keep the host alive and within its memory
def solution(agent, start_from=1):
    import itertools
    print(len([*itertools.repeat(1)]))
