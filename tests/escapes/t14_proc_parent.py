# kind: fs
# tries: /proc of the parent: its environment and memory
# layer: cage
def solution(agent, start_from=1):
    import os
    for name in ('environ', 'mem', 'maps', 'cmdline', 'status'):
        try:
            print('CANARY-PROC', open(f'/proc/{os.getppid()}/{name}', 'rb').read(100))
        except OSError:
            pass
