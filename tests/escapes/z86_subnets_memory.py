# kind: mem
# tries: a list of the subnets of a network
def solution(agent, start_from=1):
    import ipaddress
    print(len(list(ipaddress.ip_network('::/0').subnets(new_prefix=40))))
