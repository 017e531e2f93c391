# kind: frame
# tries: throw takes a traceback, and __exit__ gives one: its frames are read
def solution(agent, start_from=1):
    class C:
        def __enter__(self): return self
        def __exit__(self, kind, error, trace):
            for name in ('tb_frame', 'tb_next', 'tb_lasti', 'tb_lineno'):
                try:
                    print('CANARY-FRAME' if name != 'tb_lineno' else '', getattr(trace, name))
                except Exception as e:
                    print(type(e).__name__)
            def g():
                try: yield
                except ValueError as e: print(e.__context__)
            it = g(); next(it)
            try: it.throw(kind, error, trace)
            except StopIteration: pass
            return True
    with C():
        raise ValueError('x')
