# kind: mem
# tries: a replacement that repeats its groups, applied to each letter
def solution(agent, start_from=1):
    import re
    s = re.sub('(a)', r'\1' * 10000, 'a' * 10**6)
    print(len(re.sub('(a)', r'\1' * 10000, s)))
