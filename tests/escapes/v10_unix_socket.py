# kind: net
# tries: a unix socket bound to the marker's path
# layer: cage
def solution(agent, start_from=1):
    import _socket
    s = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    s.bind('@MARKER@')
