# kind: walk
# tries: what sys knows: modules, frames, arguments, the way to exit
def solution(agent, start_from=1):
    import sys

    for attempt in (lambda: sys.modules, lambda: sys.exc_info()[2].tb_frame, lambda: sys.exception().__traceback__, lambda: sys._getframe(), lambda: sys.last_exc, lambda: sys.argv, lambda: sys.path, lambda: sys.settrace(print), lambda: sys.setprofile(print), lambda: sys.stdin, lambda: sys.executable, lambda: sys.getrefcount(1), lambda: sys.meta_path, lambda: sys.addaudithook(print), lambda: sys.stdout.buffer, lambda: sys.stdout.fileno()):
        try:
            print('CANARY-WALK', attempt())
        except (AttributeError, TypeError, ValueError, KeyError, NameError):
            pass
