# kind: swallow
# tries: UserDict.__copy__ makes an object of the class that its owner names, with its table: an ExitStack of unguarded functions
# a correct runtime must: copy by the real class, and show no function of the plan what ends it
def solution(agent, start_from=1):
    import collections
    import contextlib
    got = []

    def leave(*error):
        got.extend(error)
        print('CAN' + 'ARY' if type(error[1]).__name__ == 'AssertionFailure' else 'fine', error)
        return True

    class U(collections.UserDict):
        def __getattribute__(self, name):
            if name == '__class__':
                return contextlib.ExitStack
            if name == '__dict__':
                return {'data': {}, '_exit_callbacks': collections.deque([(True, leave)])}
            return object.__getattribute__(self, name)

    try:
        stack = collections.UserDict.__copy__(U())
        print('CAN' + 'ARY' if type(stack) is contextlib.ExitStack else 'fine')
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
        return
    try:
        with stack:
            assert False, 'over'
    except AssertionError as e:
        print(e)
    print('CAN' + 'ARY' if any(type(part).__name__ in ('AssertionFailure', 'traceback') for part in got) else 'fine')
