# kind: fd
# tries: write to the standard output and error that the interpreter still has objects for
# layer: cage
def solution(agent, start_from=1):
    import sys, os
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, sys.stdin):
        try:
            stream.write('FORGED OUTPUT')
            stream.flush()
            print('CANARY-STREAM')
        except (OSError, ValueError, AttributeError):
            pass
