# id: t15_sys_tree
# kind: fs
# tries: /sys and /proc/sys: what the machine is, and switches of the kernel
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    for path in ('/sys/class/dmi/id/product_name', '/proc/sys/kernel/core_pattern', '/proc/version', '/proc/net/tcp', '/sys/kernel'):
        try:
            print('CANARY-SYS', open(path).read())
        except OSError:
            pass
