# id: v12_netlink
# kind: net
# tries: netlink: routes, addresses, audit
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import _socket
    s = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, 0)
    print('CANARY-NETLINK')
