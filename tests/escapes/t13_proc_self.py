# kind: fs
# tries: /proc/self: maps, mem, environ, cmdline, status
# layer: cage
def solution(agent, start_from=1):
    for name in ('maps', 'mem', 'environ', 'cmdline', 'status', 'root/etc/passwd', 'cwd/x'):
        try:
            print('CANARY-PROC', open('/proc/self/' + name, 'rb').read(100))
        except OSError:
            pass
