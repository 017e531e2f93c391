# id: v14_resolve_name
# kind: net
# tries: a look-up of a name carries data out through the resolver
# a correct runtime must: have the kernel refuse or end the worker; the host goes on, and nothing of the host was reached
# layer: cage
def solution(agent, start_from=1):
    import _socket
    print('CANARY-DNS', _socket.getaddrinfo('escape.invalid', 80))
