# kind: ckpt
# tries: variables named like the runtime's parts, and with letters that normalise
def solution(agent, start_from=1):
    names, nodes, dropped, host, namespace, globals_, solution_, segment = 1, 2, 3, 4, 5, 6, 7, 8
    ｐrinter = ask_ = 'x", print=open("@MARKER@", "w"), y="'
    builtins = {'open': 1}
    assert False, 'Error in [Step 1]: stop'
