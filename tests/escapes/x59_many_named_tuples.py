# id: x59_many_named_tuples
# kind: mem
# tries: classes without end
# a correct runtime must: stop at the budget, report a limit error, keep the host alive and within its memory
def solution(agent, start_from=1):
    from collections import namedtuple
    kept = []
    while True:
        kept.append(namedtuple("P", ["f%d" % i for i in range(500)]))
