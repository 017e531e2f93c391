# kind: mem
# tries: collapse of endless networks
def solution(agent, start_from=1):
    import ipaddress
    print(len(list(ipaddress.collapse_addresses(ipaddress.ip_network('::/0').subnets(new_prefix=40)))))
