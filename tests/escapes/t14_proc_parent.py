# id: t14_proc_parent
# kind: fs
# tries: /proc of the parent: its environment and memory
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import os
    for name in ('environ', 'mem', 'maps', 'cmdline', 'status'):
        try:
            print('CANARY-PROC', open(f'/proc/{os.getppid()}/{name}', 'rb').read(100))
        except OSError:
            pass
