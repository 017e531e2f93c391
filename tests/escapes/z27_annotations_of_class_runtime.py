# kind: walk
# tries: annotations of runtime classes that plans derive from
def solution(agent, start_from=1):
    import typing, threading, json, string
    class T(threading.Thread): pass
    class J(json.JSONEncoder): pass
    for K in (T, J, threading.Thread, json.JSONEncoder, string.Formatter):
        for act in (lambda: typing.get_type_hints(K), lambda: K.__annotations__, lambda: K.__annotations__.__setitem__('x', 1)):
            try:
                print(act())
            except Exception as e:
                print(repr(e)[:80])
