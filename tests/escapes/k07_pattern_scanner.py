# kind: walk
# tries: Pattern.scanner, the undocumented method that re.Scanner stands on; Match.re and Match.regs lead back
def solution(agent, start_from=1):
    import re
    s = re.compile('a').scanner('aaa')
    print('CANARY-WALK', s.match().re, s.pattern.scanner)
