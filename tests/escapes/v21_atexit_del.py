# kind: swallow
# tries: code that runs at the interpreter's end: atexit, __del__, weakref, a thread's end
# layer: cage
def solution(agent, start_from=1):
    import atexit, sys
    class Last:
        def __del__(self):
            while True: pass
    atexit.register(lambda: Last())
    sys.modules['codeplan_last'] = Last()
    sys.exit(0)
