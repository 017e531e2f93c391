# kind: parse
# tries: constant folding in the compiler: powers, shifts and repetitions of constants
def solution(agent, start_from=1):
    x = ((((9 ** 99) ** 99) ** 99) ** 99) ** 99
    y = (('a' * 4000) * 4000) * 4000
    z = (((1,) * 250) * 250) * 250
    w = 1 << 1000 << 1000000000
    v = '%999999999d' % 1
