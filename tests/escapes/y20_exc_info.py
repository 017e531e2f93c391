# kind: exc
# tries: sys.exc_info gives what ends the plan, its traceback and its frames
# a correct runtime must: hide them
def solution(agent, start_from=1):
    import sys, traceback, contextlib
    class C:
        def __enter__(self): return self
        def __exit__(self, *a):
            for e in (*sys.exc_info(), sys.exception(), *a):
                for name in ('tb_frame', 'tb_next', '__traceback__', 'limit', 'allowed', 'reason', 'step_done'):
                    try:
                        print('CAN' + 'ARY', getattr(e, name))
                    except AttributeError:
                        pass
            kind = sys.exc_info()[0]
            if kind is not None and not issubclass(kind, Exception):
                print('CAN' + 'ARY kind', kind)
            return True
    def gen():
        try:
            yield 1
        finally:
            if sys.exc_info() != (None, None, None):
                print('CAN' + 'ARY in a closed generator', sys.exc_info())
    g = gen(); next(g); g.close()
    with C():
        try:
            assert False, 'the end'
        finally:
            got = sys.exception()
            if got is not None:
                raise got
    with C():
        x = [0] * 10 ** 9
    agent.goto('CANARY')
