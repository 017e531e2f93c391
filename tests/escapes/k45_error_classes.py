# kind: walk
# tries: re.error and JSONDecodeError call methods of what they are given as pattern and document
def solution(agent, start_from=1):
    if start_from <= 1:
        for x in (agent, print, math, Counter):
            try:
                e = re.error('m', x, 0)
                if e.pattern is not x: print('CANARY-WALK', e.pattern)
            except Exception as error:
                pass
            try:
                e = json.JSONDecodeError('m', x, 0)
                if e.doc is not x: print('CANARY-WALK', e.doc)
            except Exception as error:
                pass
        assert True

