# kind: print
# tries: every way to make a text of a function, with the plan language alone
# a correct runtime must: show the text without an address
def solution(agent, start_from=1):
    def own():
        pass
    things = [print, len, agent.goto, own, iter([1]), (i for i in 'a'), 'a'.upper, 'a'.encode, zip(), {}.get, re.finditer('a', 'a')]
    texts = [str(things), repr(things), ascii(things), f'{things}', f'{own!r:.99}', '%s' % (things,), str(ValueError(*things)), *map(str, things)]
    try:
        {}[own]
    except KeyError as error:
        texts.append(str(error))
    if any('0' 'x' in text for text in texts):
        print('CAN' 'ARY', texts)
