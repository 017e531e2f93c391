# id: k22_exception_attributes
# kind: exc
# tries: the attributes of exceptions that carry objects: NameError.name, ImportError.path, UnicodeError.object, StopIteration.value, JSONDecodeError.doc
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    import json
    for make in (lambda: nowhere, lambda: 'é'.encode('ascii'), lambda: json.loads('x'), lambda: next(iter([])), lambda: [].x):
        try:
            make()
        except Exception as e:
            for name in ('obj', 'name', 'object', 'value', 'doc', 'path', 'with_traceback', 'add_note', '__traceback__', 'args.obj'):
                try:
                    found = getattr(e, name)
                    if not isinstance(found, (str, bytes, int, type(None))): print('CANARY-WALK', found)
                except AttributeError:
                    pass
