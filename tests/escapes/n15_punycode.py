# kind: cpu
# tries: the constructors str() and bytes() take codecs too: punycode is quadratic
def solution(agent, start_from=1):
    print(len(bytes('ü' * 3 * 10**5, 'punycode')))
