# kind: getattr
# tries: the guard's own parameters by keyword, and too many of them
def solution(agent, start_from=1):
    for more in ({'name': '_secret'}, {'value': agent, 'name': '_secret'}, {'o': agent}, {'default': 1}):
        try:
            print('CANARY-WALK', getattr(**more))
        except TypeError:
            pass
        try:
            print('CANARY-WALK', getattr(agent, **more))
        except TypeError:
            pass
