# kind: swallow
# tries: an assertion fails inside a callback of C code that turns errors into its own
def solution(agent, start_from=1):
    def fails(*_):
        assert False, 'Error in [Step 1]: the truth'
    for work in (
        lambda: sorted([2, 1], key=fails), lambda: getattr(agent, 'x', fails()), lambda: next(map(fails, [1]), None),
        lambda: any(map(fails, [1])), lambda: '%s' % fails(), lambda: dict(map(fails, [1])),
    ):
        try:
            work()
        except Exception:
            pass
    print('CANARY-SWALLOW')
