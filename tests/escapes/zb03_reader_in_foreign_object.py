# kind: walk
# tries: the constructor of a parser, called for an object of another class, leaves the reader in its dict
# a correct runtime must: take parsers alone
def solution(agent, start_from=1):
    from html.parser import HTMLParser
    class Other:
        def reset(self):
            pass
    other = Other()
    try:
        HTMLParser.__init__(other)
    except (TypeError, AttributeError) as e:
        print(type(e).__name__)
    if vars(other):
        print('CAN' + 'ARY', vars(other))
