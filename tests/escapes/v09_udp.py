# kind: net
# tries: UDP, which Landlock lets pass
# layer: cage
def solution(agent, start_from=1):
    import _socket
    s = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    s.sendto(b'CANARY-NET', ('127.0.0.1', 45991))
    print('CANARY-NET')
