# id: n15_punycode
# kind: cpu
# tries: the constructors str() and bytes() take codecs too: punycode is quadratic
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    print(len(bytes('ü' * 3 * 10**5, 'punycode')))
