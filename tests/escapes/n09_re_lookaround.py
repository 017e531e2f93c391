# kind: cpu
# tries: a pattern whose alternatives all match in two ways, in search over a long text
def solution(agent, start_from=1):
    import re
    print(re.search(r'^(([a-z])+.)+[A-Z]([a-z])+$', 'a' * 60))
