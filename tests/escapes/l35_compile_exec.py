# id: l35_compile_exec
# kind: builtins
# tries: compile to a code object, exec by a call-back of sorted
# a correct runtime must: reject at check time, or raise inside the plan; nothing of the host may become visible or change
def solution(agent, start_from=1):
    code = compile("open('@MARKER@', 'w')", 'x', 'exec')
    sorted([code], key=exec)
