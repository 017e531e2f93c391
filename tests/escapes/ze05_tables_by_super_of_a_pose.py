# kind: names
# tries: super(IPv4Address, x), where x only says that it is one, shows the library's own table of netmasks, to write to
# a correct runtime must: give super() of the real class alone
def solution(agent, start_from=1):
    import ipaddress

    class Pose:
        def __getattribute__(self, name):
            return ipaddress.IPv4Address if name == '__class__' else object.__getattribute__(self, name)

    try:
        table = super(ipaddress.IPv4Address, Pose())._netmask_cache
        table[24] = table['24'] = (ipaddress.ip_address('0.0.0.0'), 0)
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
    try:
        print('CAN' + 'ARY' if ipaddress.ip_network('10.0.0.0/24', False).prefixlen != 24 else 'fine')
    except TypeError as e:
        print(type(e).__name__, e)
