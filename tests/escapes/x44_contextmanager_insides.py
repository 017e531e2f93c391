# kind: frame
# tries: the object that contextmanager makes holds a generator and functions of Python
def solution(agent, start_from=1):
    from contextlib import contextmanager, suppress, closing, nullcontext, ExitStack
    @contextmanager
    def c(): yield
    for value in (c, c(), suppress(ValueError), closing(agent), nullcontext(1), ExitStack()):
        for name in ('gen', 'func', 'args', 'kwds', '_recreate_cm', '__wrapped__', '__globals__', '_exit_callbacks', '_exceptions', 'thing', 'enter_result', '__init__', '__dict__'):
            try:
                print('CANARY-WALK', getattr(value, name))
            except Exception as e:
                print(type(e).__name__)
        try:
            print('CANARY-MADE', value.__class__(lambda: None, (), {})) if value.__class__ not in (suppress, closing, nullcontext, ExitStack) else None
        except TypeError as e:
            print(e)
