# id: k04_collections_abc
# kind: walk
# tries: collections.abc.sys by a run-time name
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    import collections
    print(getattr(getattr(collections, 'abc'), 'sys').modules['os'].environ)
