# id: u46_recursion_limit
# kind: crash
# tries: take the interpreter's recursion limit off, and run through the stack
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os, sys
    os.getpid()
    sys.setrecursionlimit(2**31 - 1)
    f = lambda f: f(f)
    f(f)
