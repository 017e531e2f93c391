# kind: cpu
# tries: a network is asked for membership, exclusion and summaries without end
def solution(agent, start_from=1):
    import ipaddress
    for x in ipaddress.ip_network('::/0').address_exclude(ipaddress.ip_network('::1/128')):
        pass
    a = ipaddress.summarize_address_range(ipaddress.ip_address('::1'), ipaddress.ip_address('ffff::'))
    print(len(list(a)))
    b = ipaddress.collapse_addresses(ipaddress.ip_network('::/0').subnets(new_prefix=40))
    print(len(list(b)))
    print('CAN' + 'ARY went on')
