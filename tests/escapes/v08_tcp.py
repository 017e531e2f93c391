# id: v08_tcp
# kind: net
# tries: TCP by the raw module
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import _socket
    s = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    s.connect(('127.0.0.1', 45991))
    print('CANARY-NET')
