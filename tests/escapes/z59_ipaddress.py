# kind: walk
# tries: attributes of addresses that lead to classes or never end
def solution(agent, start_from=1):
    import ipaddress
    n = ipaddress.ip_network('::/0')
    print(n.num_addresses, n[5], list(zip(range(3), n.hosts())))
    for act in (lambda: n._cache, lambda: n._ALL_ONES, lambda: getattr(n, '__reduce__')(), lambda: getattr(n.subnets, '__func__'), lambda: ipaddress.IPv4Address.__init__, lambda: n.__class__, lambda: ipaddress.ip_address('::1').__init__('::2'), lambda: list(n.subnets(prefixlen_diff=24))[:1]):
        try:
            print(repr(act())[:80])
        except Exception as e:
            print(repr(e)[:80])
