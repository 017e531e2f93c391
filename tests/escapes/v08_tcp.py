# kind: net
# tries: TCP by the raw module
# layer: cage
def solution(agent, start_from=1):
    import _socket
    s = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    s.connect(('127.0.0.1', 45991))
    print('CANARY-NET')
