# kind: walk
# tries: the slot that hides a parser's reader, found in the class's dict, under another name in a class of one's own
# a correct runtime must: keep the slot out of what a plan sees
from html.parser import HTMLParser


class Mine(HTMLParser):
    seen = vars(HTMLParser).get('__reader__')


def solution(agent, start_from=1):
    found = Mine().seen
    if type(found).__name__ == 'HTMLReader':
        print('CAN' + 'ARY', found)
