# kind: walk
# tries: the runtime's globals, addresses and shared classes through methods of modules that work on whatever the plan puts into their objects: formatters that are texts, parsers, elements that copy, unbound methods, reserved names in templates
# a correct runtime must: raise inside the plan, or stop it; no global may be read, no address told, no shared class changed
import configparser, copy, json, logging, threading
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from string import Formatter
GLOBALS = '{0.__init__.__globals__[sys].modules}{0.__class__.__init__.__globals__}'
told = []
class Sink:
    def write(self, text):
        told.append(text)
class Poser:
    formatter = GLOBALS
class Plain:
    pass
class Own(logging.Handler):
    @classmethod
    def of_base(cls):
        return super().setFormatter
class Clock:
    def time_ns(self):
        return 1
    def elapsed_ns(self):
        return 1
class Huge:
    def __str__(self):
        return str(bytes(10 ** 12))
def by_formatter(formatter):
    handler, log = logging.StreamHandler(Sink()), logging.Logger('x')
    handler.formatter = formatter
    log.addHandler(handler)
    log.error('a')
    return told[-1]
def solution(agent, start_from=1):
    record, element, parser, memo = logging.LogRecord('a', 1, 'b', (), None, Clock()), ET.Element('a'), configparser.ConfigParser(), {}
    element.text = ThreadPoolExecutor().submit(len, '')
    get = Formatter().get_field
    def through(owner):
        parser._own = owner
        parser.optionxform = 'CANARY'
        return owner.optionxform
    tries = [
        lambda: by_formatter(GLOBALS),
        lambda: by_formatter(Poser),
        lambda: logging.Handler.format(Poser(), record),
        lambda: logging.StreamHandler().format(record),
        lambda: (element.__deepcopy__(memo), 'CANARY' if memo else '')[1],
        lambda: element.__copy__().text._scheduler,
        lambda: copy.deepcopy(element).text._scheduler,
        lambda: repr(element).replace(' at 0x', 'CANARY'),
        lambda: through(configparser.ConfigParser),
        lambda: through(logging.Logger),
        lambda: (logging.Handler.setFormatter(logging.Logger, 'CANARY'), logging.Logger.formatter)[1],
        lambda: (Own.of_base()(logging.Logger, 'CANARY'), logging.Logger.formatter)[1],
        lambda: (json.JSONEncoder.__init__(json.JSONEncoder, default=lambda o: 'CANARY'), json.JSONEncoder.default(1))[1],
        lambda: (logging.LogRecord.__init__(json.JSONEncoder, 'n', 1, 'CANARY', (), None, Clock()), json.JSONEncoder.msg)[1],
        lambda: (threading.Thread.__init__(threading.Thread, name='CANARY'), threading.Thread.name)[1],
        lambda: 'CANARY' if get('0.__reduce_ex__', (Plain(),), {})[0](2) else '',
        lambda: 'CANARY' if get('0.__sizeof__', (Plain(),), {})[0]() else '',
        lambda: 'CANARY' if get('0.__subclasses__', (dict,), {})[0]() else '',
    ]
    for k, work in enumerate(tries):
        try:
            found = str(work())
            print(k, 'CANARY' if 'CANARY' in found or 'codeplan' in found or '@SECRET@' in found else 'nothing')
        except Exception as e:
            print(k, type(e).__name__, str(e)[:60])
    logging.Logger('x').error('%s', Huge())
    print('CANARY: the end of the plan was hidden')
