# kind: frame
# tries: the generator of heapq.merge has a frame of Python's own module
def solution(agent, start_from=1):
    import heapq
    g = heapq.merge([1], [2])

    for attempt in (lambda: g.gi_frame, lambda: g.gi_code, lambda: getattr(g, 'gi_' + 'frame'), lambda: g.gi_frame.f_globals):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
