# kind: getattr
# tries: getattr's default hides the refusal, hasattr is an oracle for private names
def solution(agent, start_from=1):
    found = [n for n in ('_secret', '__class__', '__dict__', '_act') if hasattr(agent, n)]
    if found: print('CANARY-WALK', found)
    print(getattr(agent, '_secret', None) or '')
