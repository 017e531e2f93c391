# kind: cpu
# tries: repeats within repeats blow the compiled pattern up: compile alone takes minutes
def solution(agent, start_from=1):
    import re
    re.compile('(?:' * 12 + 'ab' + '){1,60000}' * 12)
