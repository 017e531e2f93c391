# id: t13_proc_self
# kind: fs
# tries: /proc/self: maps, mem, environ, cmdline, status
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    for name in ('maps', 'mem', 'environ', 'cmdline', 'status', 'root/etc/passwd', 'cwd/x'):
        try:
            print('CANARY-PROC', open('/proc/self/' + name, 'rb').read(100))
        except OSError:
            pass
