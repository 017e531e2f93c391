# kind: swallow
# tries: super(ExitStack, x), where x only says that it is an ExitStack, gives Python's own __exit__, over functions that hide a limit
# a correct runtime must: give super() of the real class alone, and end the plan with the limit
def solution(agent, start_from=1):
    import collections
    import contextlib

    class Pose:
        def __getattribute__(self, name):
            return contextlib.ExitStack if name == '__class__' else object.__getattribute__(self, name)

    def fill(*error):
        return list(bytearray(10**15))

    def hide(*error):
        return True

    pose = Pose()
    pose._exit_callbacks = collections.deque([(True, hide), (True, fill)])
    try:
        super(contextlib.ExitStack, pose).__exit__(None, None, None)
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
        return
    print('CAN' + 'ARY goes on after a limit')
