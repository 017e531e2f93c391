# kind: walk
# tries: files, code and the runtime's objects through xml.etree.ElementTree, string.Formatter, contextvars, threading.Thread, callbacks and HTTPStatus
# a correct runtime must: raise inside the plan, or stop it; no file may be read, no address told
import contextvars, threading, http
import xml.etree.ElementTree as ET
from concurrent.futures import Future, ThreadPoolExecutor
from string import Formatter
from typing import get_type_hints
class Walker(Formatter):
    def get_field(self, name, args, kwargs):
        return super().get_field('0.' + name, args, kwargs)
class Liar(threading.Thread):
    def start(self):
        self._future = agent_like
        return self.join()
class Sneaky(str):
    def __eq__(self, other):
        return True
    __hash__ = str.__hash__
class Fake:
    ages = iter([1])
agent_like = Fake()
def reach(value, *names):
    for name in names:
        value = getattr(value, name)
    return value
def solution(agent, start_from=1):
    root = ET.fromstring('<a x="1"><b>t</b></a>')
    bomb = '<!DOCTYPE a [<!ENTITY b "' + 'x' * 1000 + '">' + ''.join(f'<!ENTITY b{n} "' + (f'&b{n - 1};' if n else '&b;') * 20 + '">' for n in range(7)) + ']><a>&b6;</a>'
    outer = '<!DOCTYPE a [<!ENTITY b SYSTEM "file://@SECRET@">]><a>&b;</a>'
    var = contextvars.ContextVar('v')
    token = var.set(1)
    pool = ThreadPoolExecutor()
    future = pool.submit(lambda: 3)
    tries = [
        lambda: ET.fromstring(outer).text,
        lambda: len(ET.fromstring(bomb).text),
        lambda: getattr(ET, 'parse')('@SECRET@'),
        lambda: reach(ET, 'ElementTree'),
        lambda: reach(root, 'makeelement', '__self__'),
        lambda: reach(root, '__reduce__')(),
        lambda: setattr(root, '__class__', dict),
        lambda: setattr(root, 'attrib', agent),
        lambda: ET.tostring(agent),
        lambda: ET.tostring(root, encoding='idna'),
        lambda: ET.SubElement(agent, 'a'),
        lambda: ET.Element(Sneaky('a'), {'b': print}),
        lambda: reach(root.find('b', {'a': agent}), 'tag', '__globals__'),
        lambda: Formatter().format('{0.__init__.__globals__}', root),
        lambda: Formatter().format('{0.format.__func__.__globals__}', Formatter()),
        lambda: Walker().format('{solution.__code__}', pool),
        lambda: Formatter().vformat('{0.__self__}', [print], {}),
        lambda: Formatter().format('{:{:{:{}}}}', 1, 2, 3, 4),
        lambda: reach(Formatter, 'format', '__globals__'),
        lambda: reach(Formatter().get_field, '__closure__'),
        lambda: reach(var, 'set', '__closure__'),
        lambda: type(var)._default,
        lambda: setattr(type(token), 'var', 1),
        lambda: contextvars.copy_context()._scheduler,
        lambda: contextvars.copy_context().run(lambda: contextvars.Context()._values),
        lambda: contextvars.ContextVar.get(agent),
        lambda: Liar().start(),
        lambda: threading.Thread(target=agent).start(),
        lambda: threading.Thread.__init__(agent),
        lambda: threading.current_thread()._future,
        lambda: threading.main_thread().start(),
        lambda: reach(threading.Thread, 'run', '__globals__'),
        lambda: Future(Fake()),
        lambda: future._scheduler,
        lambda: future.add_done_callback(lambda f: f._scheduler),
        lambda: setattr(future, '_done', False),
        lambda: reach(http.HTTPStatus, '__mro__'),
        lambda: reach(http.HTTPStatus, '_member_map_'),
        lambda: http.HTTPStatus.OK.__class__.__dict__,
        lambda: reach(http, 'client'),
        lambda: get_type_hints(Formatter),
        lambda: get_type_hints(type(root)),
        lambda: get_type_hints(agent, globalns=agent),
    ]
    for k, work in enumerate(tries):
        try:
            found = work()
            print(k, 'CANARY' if '@SECRET@' in repr(found) or 'object at 0x' in repr(found) else type(found).__name__)
        except Exception as e:
            print(k, type(e).__name__, str(e)[:60])
    threading.Thread(target=lambda: Formatter().format('{:>999999999}', 1)).start()
