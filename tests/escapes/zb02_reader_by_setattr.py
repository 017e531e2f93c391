# kind: walk
# tries: a parser's own __setattr__ gets the reader that the runtime sets
# a correct runtime must: set it past the plan's methods
def solution(agent, start_from=1):
    from html.parser import HTMLParser
    seen = []
    class Mine(HTMLParser):
        def __setattr__(self, name, value):
            seen.append(value)
    try:
        Mine()
    except AttributeError:
        pass
    if seen:
        print('CAN' + 'ARY', seen)
