# kind: mem
# tries: classes without end
def solution(agent, start_from=1):
    from collections import namedtuple
    kept = []
    while True:
        kept.append(namedtuple("P", ["f%d" % i for i in range(500)]))
