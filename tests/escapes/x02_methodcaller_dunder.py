# kind: getattr
# tries: operator.methodcaller with a private name, or with a dotted one
def solution(agent, start_from=1):
    import operator

    for attempt in (lambda: operator.methodcaller('__reduce_ex__', 4)([]), lambda: operator.methodcaller('__getattribute__', '__class__')(1), lambda: operator.methodcaller('_secret')(agent), lambda: operator.methodcaller('format.__class__')('x')):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
