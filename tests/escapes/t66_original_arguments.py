# kind: print
# tries: the arguments and paths that the interpreter was started with
# a correct runtime must: show no path of the host
# layer: cage
def solution(agent, start_from=1):
    import shutil, sys
    shown = [shutil and "", *sys.orig_argv, *sys.argv, *sys.path, sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, sys._base_executable]
    if any("/" in text for text in shown[1:]): print('CANARY-ARGUMENTS', shown)
