# kind: exc
# tries: a group's split and derive give hooks what ends the plan
def solution(agent, start_from=1):
    class G(ExceptionGroup):
        def derive(self, errors):
            print('derive', [type(e).__name__ for e in errors])
            return G('derived', [*errors, KeyError('more')])
    try:
        try:
            raise G('g', [ValueError(1), KeyError(2)])
        except* ValueError as e:
            assert False, 'inside'
    except Exception as e:
        print('CANARY-CAUGHT', type(e).__name__)
