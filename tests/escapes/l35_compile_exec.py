# kind: builtins
# tries: compile to a code object, exec by a call-back of sorted
def solution(agent, start_from=1):
    code = compile("open('@MARKER@', 'w')", 'x', 'exec')
    sorted([code], key=exec)
