# kind: frame
# tries: generators of difflib, calendar and csv
def solution(agent, start_from=1):
    import difflib, calendar
    g = difflib.unified_diff(["a"], ["b"])
    c = calendar.Calendar().itermonthdays(2024, 1)

    for attempt in (lambda: g.gi_frame, lambda: c.gi_frame.f_back, lambda: getattr(c, 'gi_code')):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
