# kind: crash
# tries: take the interpreter's recursion limit off, and run through the stack
# layer: cage
def solution(agent, start_from=1):
    import os, sys
    os.getpid()
    sys.setrecursionlimit(2**31 - 1)
    f = lambda f: f(f)
    f(f)
