# kind: walk
# tries: a memo with the numbers that come next puts the plan's objects where the runtime keeps its own
# a correct runtime must: make the hidden parts itself
def solution(agent, start_from=1):
    import copy
    from html.parser import HTMLParser
    class Mine(HTMLParser):
        pass
    class Fake:
        rawdata = ''
        def feed(self, data):
            print('CAN' + 'ARY the runtime calls', data)
    made = copy.deepcopy(Mine(), {16 * k: Fake() for k in range(2, 10)})
    made.feed('a')
