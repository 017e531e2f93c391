# kind: dunder
# tries: operator writes items that plans may not write
def solution(agent, start_from=1):
    import operator, functools, json, sys
    for owner in (json, sys, functools, agent, print, (1, 2), "abc", sys.version_info, range(3)):
        for write in (lambda: operator.setitem(owner, 0, 1), lambda: operator.delitem(owner, 0), lambda: operator.iconcat(owner, owner)):
            try:
                write()
            except (TypeError, AttributeError, IndexError):
                pass
