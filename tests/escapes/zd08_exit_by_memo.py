# kind: swallow
# tries: a memo with the numbers that come next puts a deque of the plan's into the copy of an ExitStack, past its guard
# a correct runtime must: refuse the copy, as Python does that of its own contexts, or make the hidden parts itself
def solution(agent, start_from=1):
    import collections
    import contextlib
    import copy
    got = []

    def leave(*error):
        got.extend(error)
        return True

    try:
        first, fake = id(object()), collections.deque([(True, leave)])
        stack = copy.deepcopy(contextlib.ExitStack(), {first + 16 * k: fake for k in range(2, 6)})
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
        return
    try:
        with stack:
            assert False, 'over'
    except AssertionError as e:
        print(e)
    print('CAN' + 'ARY' if any(type(part).__name__ in ('AssertionFailure', 'traceback') for part in got) else 'fine')
