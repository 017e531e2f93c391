# id: k30_genexp_gi_code
# kind: frame
# tries: gi_code and gi_yieldfrom by getattr, send and throw by name
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    g = (x for x in [1, 2])
    for name in ('gi_code', 'gi_running', 'gi_yieldfrom', 'send', 'throw', 'close'):
        try:
            print('CANARY-WALK', getattr(g, name))
        except AttributeError:
            pass
