# id: k20_type_mro
# kind: walk
# tries: type(x).mro() climbs without a dunder, str.mro.__self__ as well
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    for kind in (type([]), str, int, Exception, type(None)):
        print('CANARY-WALK', kind.mro())
