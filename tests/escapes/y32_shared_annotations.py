# kind: class
# tries: the annotations of classes that all plans share are written
def solution(agent, start_from=1):
    import threading, json, string, types, logging, typing
    from collections import UserDict, UserList
    for K in (threading.Thread, json.JSONEncoder, string.Formatter, types.SimpleNamespace, UserDict, UserList, logging.Logger, logging.Handler):
        try:
            print(K.__annotations__)
            if K.__annotations__: print('CAN' + 'ARY another plan wrote this', K)
            K.__annotations__['x'] = 5
            print(K.__annotations__)
        except Exception as e:
            print(repr(e))
    class J(json.JSONEncoder): pass
    print(typing.get_type_hints(J))
