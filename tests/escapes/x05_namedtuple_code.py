# kind: exec
# tries: names of fields that hold code, for the function that namedtuple compiles
def solution(agent, start_from=1):
    from collections import namedtuple

    for attempt in (lambda: namedtuple('P', 'x=print(1)'), lambda: namedtuple('P', ['x, *y']), lambda: namedtuple('P', ['a\nimport os']), lambda: namedtuple('P(object', 'x'), lambda: namedtuple('P', [b'x']), lambda: namedtuple('P', 'x', module=agent)().a):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
