# kind: exc
# tries: the attributes of exceptions that carry objects: AttributeError.obj, ImportError.path, UnicodeError.object, __traceback__
def solution(agent, start_from=1):
    import json
    for make in (lambda: nowhere, lambda: 'é'.encode('ascii'), lambda: json.loads('x'), lambda: next(iter([])), lambda: [].x):
        try:
            make()
        except Exception as e:
            for name in ('obj', 'object', 'path', '__traceback__', '__suppress_context__', '__reduce__', 'args.obj'):
                try:
                    found = getattr(e, name)
                    if not isinstance(found, (str, bytes, int, type(None))): print('CANARY-WALK', found)
                except AttributeError:
                    pass
