# id: v11_abstract_socket
# kind: net
# tries: an abstract unix socket: no file, but other processes hear it
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import _socket
    s = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    s.bind('\0codeplan-escape')
    print('CANARY-ABSTRACT')
