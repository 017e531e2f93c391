# kind: getattr
# tries: operator.attrgetter with a dotted path of private names
def solution(agent, start_from=1):
    import operator

    for attempt in (lambda: operator.attrgetter('__globals__')(print), lambda: operator.attrgetter('report.__self__')(agent), lambda: operator.attrgetter('_secret')(agent), lambda: operator.attrgetter('__class__.__subclasses__')(1)):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
