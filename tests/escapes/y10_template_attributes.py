# kind: format
# tries: walk from values to Python's insides by the attributes that templates read
# a correct runtime must: read in a template what a plan reads, and nothing else
import collections, functools, queue, string, threading
class Own:
    def __init__(self):
        self.kept = {'k': [print]}
    def m(self):
        return 1
def plain():
    yield 1
def solution(agent, start_from=1):
    try:
        1 / 0
    except ZeroDivisionError as error:
        caught = error
    owners = [agent, Own(), Own, Own().m, plain, plain(), caught, threading.Thread(target=plain), queue.Queue(), queue.Queue().get, '', 'x'.format, functools.partial('x'.format), string.Formatter(), collections.ChainMap(), print, type]
    doors = ['__globals__', '__code__', '__closure__', '__func__', '__self__', '__builtins__', '__subclasses__', '__reduce__', '__traceback__', '__init__.__globals__', '__class__.__subclasses__', 'gi_frame', 'gi_code', 'tb_frame', 'goto.__globals__', 'goto.__func__', 'm.__func__.__globals__', 'kept[k][0].__self__', '_future', '_scheduler', '_items', 'func', '__class__.__mro__[1].__subclasses__', '__call__.__self__', '__dict__[m].__globals__']
    class Names(dict):
        def __missing__(self, name):
            return agent
    class Text(str):
        pass
    for owner in owners:
        for door in doors:
            field = '{0.' + door + '}'
            for fill in (lambda: field.format(owner), lambda: ('{a.' + door + '}').format_map({'a': owner}), lambda: str.format(field, owner), lambda: Text(field).format(owner), lambda: ('{x.' + door + '}').format_map(Names()), lambda: ('{1:{0.' + door + '}}').format(owner, ''), lambda: string.Formatter().format(field, owner)):
                try:
                    found = fill()
                except Exception:
                    continue
                if any(word in found for word in ('function', 'module', 'code', 'frame', 'Scheduler', 'HOST', 'builtin')):
                    print('CAN' + 'ARY', door, found[:80])
