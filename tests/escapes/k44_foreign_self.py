# kind: walk
# tries: methods of Counter written in Python, given foreign objects as self
def solution(agent, start_from=1):
    if start_from <= 1:
        for m in (Counter.copy, Counter.elements, Counter.most_common, Counter.total, Counter.subtract, Counter.update):
            for x in (agent, print, math, len, str, agent.goto, (i for i in ''), ''.format, ValueError('a'), re.compile('a'), type, Counter):
                try:
                    got = m(x)
                    if callable(got): print('CANARY-WALK', got)
                except Exception as e:
                    got = e
        assert True

