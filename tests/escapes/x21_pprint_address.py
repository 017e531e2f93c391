# kind: format
# tries: pprint names a list that contains itself by its address
def solution(agent, start_from=1):
    import pprint, re
    a = [1]
    a.append(a)
    if re.search(r"id=\d+|0x[0-9a-f]+", pprint.pformat(a) + pprint.saferepr({1: a})): print("CANARY-ADDRESS")
