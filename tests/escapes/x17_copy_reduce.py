# kind: dunder
# tries: copy and deepcopy call what __reduce__ returns
def solution(agent, start_from=1):
    import copy

    for attempt in (lambda: copy.deepcopy(x for x in [1]), lambda: copy.copy(iter([1])), lambda: copy.dispatch_table, lambda: copy.copyreg, lambda: copy.weakref, lambda: copy.deepcopy(open)):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
