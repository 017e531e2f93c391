# kind: print
# tries: file=, flush= and sep= that are functions, the agent, or lists
def solution(agent, start_from=1):
    for more in ({'file': agent}, {'file': ask}, {'flush': ask}, {'sep': ['x']}, {'end': agent}, {'sep': 5}):
        try:
            print('FORGED', **more)
        except (TypeError, AttributeError):
            pass
    print('x', file=ask)
