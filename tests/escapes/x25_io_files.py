# kind: fs
# tries: io opens files, and wraps descriptors
def solution(agent, start_from=1):
    import io

    for attempt in (lambda: io.open('@SECRET@'), lambda: io.FileIO(0), lambda: io.open_code('@SECRET@'), lambda: io.TextIOWrapper(io.BytesIO()), lambda: io.BufferedReader(io.BytesIO()), lambda: io.StringIO().detach(), lambda: io.BytesIO(b'abc').getbuffer()):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
