# kind: walk
# tries: files, addresses, huge values and the runtime's objects through configparser, zlib, gzip, array, ipaddress, tomllib, graphlib, email.utils and threading
# a correct runtime must: raise inside the plan, or stop it; no file may be read, no address told
import array, configparser, email.utils, graphlib, gzip, ipaddress, threading, tomllib, zlib
class Sub(configparser.ConfigParser):
    def deeper(self, path):
        return super().read(path)
kept = []
class Keeping(configparser.ConfigParser):
    def __setattr__(self, name, value):
        kept.append(value)
        super().__setattr__(name, value)
def solution(agent, start_from=1):
    cfg = configparser.ConfigParser()
    cfg.read_string('[a]\nb = 1\n')
    own = cfg._own
    tries = [
        lambda: cfg.read('@SECRET@'),
        lambda: Sub().deeper('@SECRET@'),
        lambda: cfg.read_file('@SECRET@'),
        lambda: own.read('@SECRET@'),
        lambda: (Keeping(), kept[0].read('@SECRET@')),
        lambda: cfg.optionxform.optionxform,
        lambda: own['a'].parser,
        lambda: setattr(cfg, '_own', agent) or cfg.sections(),
        lambda: configparser.RawConfigParser.read(own, '@SECRET@'),
        lambda: configparser.ConfigParser.get(agent, 'a', 'b'),
        lambda: configparser.ConfigParser(converters={'x': print}),
        lambda: configparser.ConfigParser(interpolation=agent),
        lambda: cfg.write(agent),
        lambda: setattr(configparser.ConfigParser, 'read', print),
        lambda: array.array('b', [1]).buffer_info(),
        lambda: array.array('b', [1]).tofile(agent),
        lambda: ipaddress.IPv4Address.__dict__,
        lambda: graphlib.TopologicalSorter({1: [2]})._node2info,
        lambda: tomllib.loads('a = 1.5', parse_float=lambda t: agent).get('a')._secret,
        lambda: getattr(email.utils, "socket"),
        lambda: getattr(email.utils, "formatdate")(),
        lambda: threading.local()._runtime,
        lambda: threading.Lock.__init__(agent),
        lambda: getattr(zlib, "decompressobj")(),
        lambda: getattr(gzip, "open")('@SECRET@').read(),
    ]
    for k, work in enumerate(tries):
        try:
            found = work()
            print(k, 'CANARY' if 'array.array' in repr(found) or '@SECRET@' in repr(found) else type(found).__name__)
        except Exception as e:
            print(k, type(e).__name__, str(e)[:60])
    half = bytes(19 * 10 ** 6)
    print(len(gzip.decompress(gzip.compress(half))))
    zlib.decompress(zlib.compress(half + half))
