# kind: net
# tries: netlink: routes, addresses, audit
# layer: cage
def solution(agent, start_from=1):
    import _socket
    s = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, 0)
    print('CANARY-NETLINK')
