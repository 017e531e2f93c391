# kind: print
# tries: texts of functions, iterators, generators, code and frames show where they are
# a correct runtime must: show the text without an address
# layer: cage
def solution(agent, start_from=1):
    import sys
    things = [print, len, agent.goto, solution, iter([1]), (i for i in 'a'), 'a'.upper, object(), solution.__code__, sys._getframe(), zip(), {}.get]
    texts = [str(things), repr(things), ascii(things), f'{things}', '%s' % (things,), str(ValueError(*things))]
    if any('0x' in text for text in texts): print('CANARY-ADDRESS', texts)
