# id: k17_getattr_default
# kind: getattr
# tries: getattr's default hides the refusal, hasattr is an oracle for private names
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    found = [n for n in ('_secret', '__class__', '__dict__', '_act') if hasattr(agent, n)]
    if found: print('CANARY-WALK', found)
    print(getattr(agent, '_secret', None) or '')
