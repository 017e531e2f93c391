"""The modules of the standard library, as plans see them."""

from __future__ import annotations

import abc
import collections.abc
import importlib
import inspect
import json
import string
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest
from support.guarded_plans import STARTED, message, refused, run
from support.sample_plans import wrap_as_plan as plan

from codeplan.sandbox.language.compilation import compile_expression
from codeplan.sandbox.runtime.guards import RunSettings
from codeplan.sandbox.runtime.module_names import (
    _MEMBERS,
    ALLOWED_MODULES,
    LEFT_OUT,
    NEWER_MEMBERS,
    PREDEFINED_MODULES,
    REFUSED_MODULES,
    split_names,
)
from codeplan.sandbox.runtime.namespace import PlanRuntime

PYENV = Path.home() / ".pyenv" / "versions"
VERSIONS = ((3, 11), (3, 12), (3, 13))
OWN = split_names(
    "ast asyncio concurrent concurrent.futures contextvars email http inspect large_language_model os sched sys "
    "threading urllib weakref xml xml.etree xml.sax zlib"
)
"""Modules of which plans have only what they name."""

LIST_NAMES = """
import importlib, inspect, json, sys
found = {}
for name, module in [(name, importlib.import_module(name)) for name in json.loads(sys.argv[1])]:
    public = getattr(module, '__all__', None)
    if public is None:
        public = [n for n, v in vars(module).items() if not n.startswith('_') and not inspect.ismodule(v)]
    found[name] = [sorted(n for n in public if not inspect.ismodule(getattr(module, n))), sorted(dir(module))]
print(json.dumps(found))
"""


def names_of(version: tuple[int, int]) -> dict[str, tuple[set[str], set[str]]]:
    """Return the public names, and all names, of each module in a version of Python."""
    python = next(iter(sorted(PYENV.glob(f"{version[0]}.{version[1]}.*/bin/python"))), None)
    if python is None:
        pytest.skip(f"Python {version[0]}.{version[1]} is not installed here")
    modules = json.dumps(sorted(_MEMBERS.keys() - OWN))
    done = subprocess.run([str(python), "-c", LIST_NAMES, modules], capture_output=True, text=True, check=True)
    return {name: (set(public), set(every)) for name, (public, every) in json.loads(done.stdout).items()}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_name_of_a_module_is_given_or_left_out_for_a_reason(version: tuple[int, int]) -> None:
    for module, (public, every) in names_of(version).items():
        given = {n for n in _MEMBERS[module].split() if NEWER_MEMBERS.get(module, {}).get(n, (3, 0)) <= version}
        left_out = {name for names in LEFT_OUT.get(module, {}).values() for name in names.split()}
        assert given <= every, f"{module} lacks {given - every}"
        assert not given & left_out
        assert public <= given | left_out | BORROWED, f"{module} also has {public - given - left_out - BORROWED}"


BORROWED = {"Decimal", "Enum", "StringIO", "namedtuple"}
"""Names that a module without ``__all__`` has imported from another."""


def test_a_members_version_is_that_which_brought_it() -> None:
    for module, newer in NEWER_MEMBERS.items():
        assert newer.keys() <= set(_MEMBERS[module].split())


def test_no_member_is_a_module_of_python_or_one_of_its_functions_with_a_plans_text_for_attributes() -> None:
    modules: Any = PlanRuntime(compile_expression)._names["_modules_"]
    for facade in modules.values():
        assert not [name for name, member in facade.members.items() if inspect.ismodule(member)]
    assert not [m for m in ("operator", "functools") if _shares(modules[m], "attrgetter methodcaller wraps")]


def _shares(facade: Any, names: str) -> bool:
    own = importlib.import_module(facade.name)
    return any(facade.members[n] is getattr(own, n) for n in names.split() if n in facade.members)


LOG_MISTAKE = "ERROR:root:--- Logging error ---\nTypeError: %d format: a real number is required, not str\n\non"
TRACEBACK = """Traceback (most recent call last):
  File "<plan>", line 7, in solution
  File "<plan>", line 4, in f
ValueError: a

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "<plan>", line 9, in solution
KeyError: 'b'"""

AS_IN_PYTHON = {
    "urllib.parse": ("import urllib.parse\nprint(urllib.parse.quote('a b'))"),
    "from urllib import parse": ("from urllib import parse\nprint(parse.urlsplit('http://h:1/p?q').port)"),
    "import a.b as c": ("import collections.abc as c\nprint(isinstance([], c.Sequence))"),
    "datetime": ("from datetime import date, timedelta\nprint(date(2024, 2, 28) + timedelta(days=2))"),
    "strptime": ("from datetime import datetime\nprint(datetime.strptime('5/6/20', '%d/%m/%y').date())"),
    "zoneinfo": (
        "from datetime import datetime\nfrom zoneinfo import ZoneInfo\n"
        "print(datetime(2024, 7, 1, tzinfo=ZoneInfo('Europe/Berlin')).utcoffset())"
    ),
    "itertools": ("from itertools import chain, groupby\nprint(list(chain.from_iterable([[1], [2]])))"),
    "cache": (
        "import functools\ndef f(n):\n    return n if n < 2 else g(n - 1) + g(n - 2)\n"
        "g = functools.lru_cache(maxsize=None)(f)\nprint(g(80), g.cache_info().misses)"
    ),
    "wraps": (
        "from functools import wraps\ndef f():\n    return 1\ndef g():\n    return 2\nh = wraps(f)(g)\nprint(h())"
    ),
    "singledispatch": (
        "from functools import singledispatch\nf = singledispatch(lambda x: 'any')\nf.register(int, lambda x: 'int')\n"
        "@f.register\ndef g(x: None): return 'none'\n"
        "print(f(True), f('a'), f(None))"
    ),
    "namedtuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y', defaults=[0])\np = P(1)\n"
        "print(p, p.x, p._replace(y=5), p._asdict(), P._fields)"
    ),
    "ChainMap": (
        "from collections import ChainMap\nc = ChainMap({'a': 1}, {'b': 2})\nc['b'] = 3\nprint(c['b'], c.maps, len(c))"
    ),
    "heapq": ("import heapq\nh = [3, 1, 2]\nheapq.heapify(h)\nprint(heapq.heappop(h), list(heapq.merge([1], [0])))"),
    "bisect": ("import bisect\na = [1, 3]\nbisect.insort(a, 2)\nprint(a)"),
    "deepcopy": (
        "import copy\na = [1, {'k': (2, [3])}]\na.append(a)\nb = copy.deepcopy(a)\nb[1]['k'][1].append(4)\n"
        "print(a[1], b[1], b[2] is b)"
    ),
    "operator": (
        "from operator import attrgetter, itemgetter, methodcaller\nimport datetime\nd = datetime.date(2024, 5, 6)\n"
        "print(attrgetter('year', 'month')(d), itemgetter(1)('ab'), methodcaller('split', '-')('a-b'))"
    ),
    "decimal": (
        "from decimal import Decimal, ROUND_HALF_UP\nprint(Decimal('2.675').quantize(Decimal('0.01'), ROUND_HALF_UP))"
    ),
    "fractions": ("from fractions import Fraction\nf = Fraction(3, 6) ** 2\nprint(f, f.denominator)"),
    "statistics": ("import statistics\nprint(statistics.median([3, 1, 2]), statistics.NormalDist(0, 1).cdf(0))"),
    "textwrap": ("import textwrap\nprint(textwrap.shorten('aaa bbb ccc', 9))"),
    "Template": ("from string import Template\nprint(Template('$a-$b').safe_substitute(a=1))"),
    "hashlib": (
        "import hashlib, hmac\nprint(hashlib.sha256(b'a').hexdigest()[:8], hmac.new(b'k', b'm', 'md5').digest_size)"
    ),
    "base64": ("import base64, binascii\nprint(base64.b64encode(b'ab'), binascii.crc32(b'ab'))"),
    "csv": (
        "import csv, io\nf = io.StringIO()\nw = csv.writer(f)\nw.writerow(['a', 'b,c'])\n"
        "print([r for r in csv.reader(f.getvalue().splitlines())], [r['x'] for r in csv.DictReader(io.StringIO('x,y\\n1,2'))])"
    ),
    "print to a file": (
        "import io, sys\nf = io.StringIO()\nprint('a', file=f)\nprint(repr(f.getvalue()), file=sys.stderr)"
    ),
    "difflib": ("import difflib\nprint(difflib.get_close_matches('appel', ['ape', 'apple']))"),
    "pprint": ("import pprint\npprint.pprint({'b': 1, 'a': 2})"),
    "calendar": ("import calendar\nprint(calendar.monthrange(2024, 2)[1], calendar.day_name[0], calendar.MONDAY + 1)"),
    "abstract bases": (
        "import collections.abc as c\nfrom typing import Sequence\n"
        "class M(c.MutableMapping):\n    def __init__(self, **kept):\n        self.kept = kept\n"
        "    def __getitem__(self, key):\n        return self.kept[key]\n"
        "    def __setitem__(self, key, value):\n        self.kept[key] = value\n"
        "    def __delitem__(self, key):\n        del self.kept[key]\n"
        "    def __iter__(self):\n        return iter(self.kept)\n"
        "    def __len__(self):\n        return len(self.kept)\n"
        "class S(Sequence[int]):\n    def __len__(self):\n        return 3\n"
        "    def __getitem__(self, i):\n        return (4, 5, 6)[i]\n"
        "m = M(a=1)\nm.update(b=2)\nm.setdefault('c', 3)\nprint(m.pop('a'), m.get('z'), dict(m), m == {'b': 2, 'c': 3}, m.keys() & {'c'})\n"
        "print(S().index(5), list(reversed(S())), 9 in S(), isinstance(m, c.Mapping), isinstance(S(), c.Sequence), S.mro()[1].__name__)\n"
        "try:\n    type('T', (c.Sized,), {})()\nexcept TypeError as e:\n    print('abstract' in str(e))"
    ),
    "subclasses": (
        "class A:\n    pass\nclass B(A):\n    pass\nclass C(A):\n    pass\n"
        "print([kind.__name__ for kind in A.__subclasses__()], B.__subclasses__())"
    ),
    "exc_info": (
        "import sys\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n"
        "    print(sys.exc_info()[0].__name__, sys.exc_info()[1] is e, sys.exception() is e)\n"
        "try:\n    assert False, 'no'\nexcept AssertionError:\n    print(sys.exc_info()[:2])\nprint(sys.exc_info())"
    ),
    "partials": (
        "from functools import partial, partialmethod, singledispatchmethod, update_wrapper\np = partial(int, base=2)\n"
        "print(p, p('11'), p.func, p.args, p.keywords)\nclass A:\n    def m(self, a, b=0):\n        return a, b\n"
        "    n = partialmethod(m, 1)\n    @singledispatchmethod\n    def f(self, x):\n        return 'any'\n"
        "    @f.register\n    def _(self, x: int):\n        return 'int'\nprint(A().n(b=3), A().f(1), A().f(''))\n"
        "class D:\n    def __init__(self, f):\n        update_wrapper(self, f)\n"
        "print(D(A.m).__name__, D(A.m).__wrapped__ is A.m)"
    ),
    "SimpleNamespace": (
        "from types import SimpleNamespace\nn = SimpleNamespace(a=1)\nprint(n, type(n).__name__, hasattr(n, 'b'))\n"
        "try:\n    n.b\nexcept AttributeError as e:\n    print(e)"
    ),
    "xml.sax.saxutils": (
        "from xml.sax import saxutils\nprint(saxutils.escape('a<b&c', {'a': 'A'}), saxutils.unescape('&lt;&amp;lt;'), saxutils.quoteattr('\"'))"
    ),
    "warnings": (
        "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('error')\n"
        "    warnings.filterwarnings('ignore', 'OLD')\n    warnings.warn('old')\n    try:\n"
        "        warnings.warn('new', DeprecationWarning)\n    except DeprecationWarning as e:\n        print(e, e.__suppress_context__)\n"
        "with warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('ignore', FutureWarning)\n"
        "    warnings.warn('a', FutureWarning)\n    warnings.warn('b')\nprint([str(x.message) for x in w])"
    ),
    "parts of others": (
        "from functools import singledispatch\nfrom xml.etree import ElementTree as ET\nfrom typing import List\n"
        "@singledispatch\ndef f(x): return 1\nf.register(int, lambda x: 2)\nprint(len(f.registry), f.registry[int](0), list[int].__name__, List[int].__name__)\n"
        "try:\n    ET.fromstring('<a>')\nexcept ET.ParseError as e:\n    print(e.position, e.code)"
    ),
    "html.parser": (
        "from html.parser import HTMLParser\nclass Links(HTMLParser):\n"
        "    def reset(self):\n        super().reset()\n        self.seen = []\n"
        "    def handle_starttag(self, tag, attrs):\n        self.seen.append((tag, dict(attrs), self.getpos()))\n"
        "    def handle_data(self, data):\n        self.seen.append(data)\n"
        "p = Links()\np.feed('<a href=\"/x?a&amp;b\">you &amp;')\nr = Links()\nr.feed('<!-- -->we<br/>')\nr.close()\np.feed(' me')\np.close()\n"
        "print(p.seen, r.seen, isinstance(p, HTMLParser))"
    ),
    "html": ("import html\nprint(html.escape('<a>'))"),
    "paths": (
        "import os\nfrom pathlib import Path, PureWindowsPath\np = Path('a') / 'b.tar.gz'\n"
        "print(p, p.stem, p.suffix, p.parent.name, list(p.parents)[1], p.with_suffix('.md').name, sorted([p, Path('a')])[0])\n"
        "print(os.path.join('a', 'b'), os.path.splitext('x.y'), PureWindowsPath('c:/x/y').parts[1])"
    ),
    "uuid": ("import uuid\nprint(uuid.uuid5(uuid.NAMESPACE_DNS, 'a').version, len(uuid.uuid4().hex))"),
    "json": (
        "import json, io\nf = io.StringIO()\njson.dump({'a': 1.5}, f)\nf.seek(0)\n"
        "print(json.load(f, parse_float=str), json.loads('{\"a\": 1}', object_hook=list))"
    ),
    "unicodedata": ("import unicodedata\nprint(unicodedata.name('a'))"),
    "numbers": ("import numbers, cmath\nprint(isinstance(1, numbers.Integral), cmath.phase(1))"),
    "to_bytes": ("print((258).to_bytes(2, 'big'), int.from_bytes(b'ab', 'little'))"),
    "fromhex": ("print(bytes.fromhex('6162'), float.fromhex('0x1p3'))"),
    "iter with a sentinel": ("a = [1, 0, 2]\nprint(list(iter(a.pop, 0)))"),
    "Match.re": ("print(re.match('a', 'a').re.pattern)"),
    "bytearray": ("b = bytearray(b'ab')\nb[0] = 99\nb.append(100)\nprint(b, b.decode('ascii'))"),
    "encodings": (
        "print('é'.encode('cp437'), 'é'.encode('L1'), b'\\xff\\xfea\\x00'.decode('U16'), 'é'.encode('windows-1252'))"
    ),
    "logging": (
        "import logging\nlogging.basicConfig(level='INFO')\nlogging.getLogger('a.b').info('%s of %d', 'x', 3)\n"
        "logging.debug('hidden')\nlogging.info('%(k)s', {'k': 1})"
    ),
    "logging to a stream of one's own": (
        "import io, logging\nout = io.StringIO()\nhandler = logging.StreamHandler(out)\n"
        "handler.setFormatter(logging.Formatter('{levelname}|{funcName}|{message}|{who}', style='{'))\n"
        "log = logging.getLogger('a')\nlog.addHandler(handler)\nlog.propagate = False\n"
        "log.addFilter(lambda record: 'secret' not in record.getMessage())\n"
        "log.error('secret')\nlog.critical('seen', extra={'who': 'me'})\nprint(repr(out.getvalue()))"
    ),
    "configparser": (
        "import configparser, io\ncfg = configparser.ConfigParser()\n"
        "cfg.read_string('[core]\\nname = demo\\n; comment\\nworkers: 4\\nwho = %(name)s!\\n')\n"
        "print(cfg.sections(), dict(cfg['core']), cfg.getint('core', 'workers'), cfg['core'].get('x', 'y'), 'a' in cfg)\n"
        "cfg.optionxform = str\ncfg['New'] = {'A': '1'}\nout = io.StringIO()\ncfg.write(out)\n"
        "print(repr(out.getvalue()))\ntry:\n    cfg['q']\nexcept KeyError as e:\n    print(e)"
    ),
    "graphlib": (
        "from graphlib import CycleError, TopologicalSorter\n"
        "print(*TopologicalSorter({'b': ['a'], 'c': ['b']}).static_order())\ntry:\n"
        "    TopologicalSorter({1: [2], 2: [1]}).prepare()\nexcept CycleError as e:\n    print(e.args[0])"
    ),
    "ipaddress": (
        "import ipaddress as ip\nnet = ip.ip_network('10.0.0.0/30')\n"
        "print([str(h) for h in net.hosts()], ip.ip_address('10.0.0.1') in net, ip.ip_address('::1').is_loopback)"
    ),
    "array": (
        "from array import array\na = array('i', [3, 1])\na.append(2)\na[0] += 4\ndel a[1]\n"
        "print(a, a.tolist(), max(range(2), key=a.__getitem__), len(a * 2))"
    ),
    "tomllib": ("import tomllib\nprint(tomllib.loads('[a]\\nb = [1, 2.5]'))"),
    "zlib and gzip": (
        "import gzip, zlib\ndata = b'abc' * 50\nprint(zlib.decompress(zlib.compress(data)) == data, zlib.crc32(b'a'), "
        "gzip.decompress(gzip.compress(data)) == data)\ntry:\n    zlib.decompress(zlib.compress(data)[:9])\n"
        "except zlib.error as e:\n    print(e)"
    ),
    "email.utils": (
        "from email.utils import formataddr, format_datetime, parseaddr, parsedate_to_datetime\n"
        "at = parsedate_to_datetime('Fri, 16 Feb 2024 17:20:00 -0500')\n"
        "print(at, format_datetime(at), parseaddr('A B <a@b.example>'), formataddr(('B, A', 'a@b.example')))"
    ),
    "ast": (
        "import ast, operator\nOF = {ast.Add: operator.add, ast.Mult: operator.mul}\ndef value(node):\n    match node:\n"
        "        case ast.Expression(body=inner) | ast.Expr(value=inner):\n            return value(inner)\n"
        "        case ast.Constant(value=int() as n):\n            return n\n"
        "        case ast.BinOp(left, op, right):\n            return OF[type(op)](value(left), value(right))\n"
        "    raise ValueError(ast.dump(node))\nclass Names(ast.NodeVisitor):\n    def visit_Name(self, node):\n"
        "        print(node.id, node.col_offset)\nprint(value(ast.parse('1 + 2 * 3', mode='eval')))\n"
        "Names().visit(ast.parse('a(b)'))\ntry:\n    value(ast.parse('x', mode='eval'))\nexcept ValueError as e:\n"
        "    print(e)\nprint(ast.unparse(ast.BinOp(ast.Constant(1), ast.Add(), ast.Name('y'))))\n"
        "print([type(n).__name__ for n in ast.walk(ast.parse('-1'))][-2:])"
    ),
    "inspect": (
        "import inspect\nclass A:\n    def __init__(self, a, *b, c=1, **d):\n        pass\n    def m(self, x=2):\n"
        "        'Text.'\ndef f(a, /, b=1, *, c):\n    yield\nasync def g():\n    pass\n"
        "print(*map(inspect.signature, (A, f, A(1).m)), inspect.getdoc(A.m), inspect.isgeneratorfunction(f))\n"
        "print([n for n, _ in inspect.getmembers(A, inspect.isfunction)], inspect.iscoroutinefunction(g))\n"
        "print(inspect.signature(f).bind(1, c=2).arguments, inspect.signature(f).parameters['a'].kind.name)"
    ),
    "weakref": (
        "import weakref\nclass A:\n    pass\na = A()\nby_name = weakref.WeakValueDictionary()\nby_name['a'] = a\n"
        "all_of_them, ref = weakref.WeakSet([a]), weakref.ref(a)\nprint(list(by_name), len(all_of_them), ref() is a)\n"
        "del a\nprint(list(by_name), len(all_of_them), ref())"
    ),
    "sched": (
        "import sched, time\ns = sched.scheduler()\ndone = []\nnow = time.monotonic()\n"
        "s.enterabs(now + 0.002, 1, done.append, ('late',))\ns.enterabs(now + 0.001, 1, done.append, argument=('soon',))\n"
        "s.cancel(s.enter(9, 1, print))\ns.run()\n"
        "print(done, s.empty())"
    ),
    "exits": (
        "import sys\nfor leave in (lambda: sys.exit('why'), lambda: sys.exit(3), sys.exit):\n    try:\n        leave()\n"
        "    except SystemExit as e:\n        print(repr(e), e.code)\ndef g():\n    try:\n        yield 1\n"
        "    except GeneratorExit:\n        print('closed')\n        raise\nx = g()\nnext(x)\nx.close()"
    ),
    "classes made by a call": (
        "kinds = []\nclass Base:\n    def __init_subclass__(cls):\n        kinds.append(cls.__name__)\n"
        "K = type('K', (Base,), {'x': 1, '__str__': lambda self: f'K{self.x}'})\nE = type('E', (ValueError,), {})\n"
        "try:\n    raise E('no')\nexcept ValueError as e:\n    print(K(), kinds, type(e).__name__, e)"
    ),
    "xml.etree.ElementTree": (
        "import xml.etree.ElementTree as ET\nroot = ET.fromstring('<a x=\"1\"><b>t</b><b/></a>')\n"
        "print(root.get('x'), root.findtext('.//b'), [e.tag for e in root.iter()], len(root))\n"
        "root[1].text = 'n&'\nroot[1].text += 'm'\ndel root[0]\nET.SubElement(root, 'c', k='v')\n"
        "print(ET.tostring(root, encoding='unicode'))\ntry:\n    ET.fromstring('<a>')\n"
        "except ET.ParseError as e:\n    print(e)"
    ),
    "elements in slices, copies and searches": (
        "import copy, xml.etree.ElementTree as ET\nroot = ET.fromstring('<a><b k=\"1\"/><c>t<b/></c></a>')\n"
        "class I:\n    def __index__(self):\n        return 1\n"
        "root[I():] = (ET.Element(t, {'n': t}, m='x') for t in 'xyz')\nprint([e.tag for e in root[:I()]])\n"
        "root.extend(e for e in [ET.Element('w')])\ndel root[::2]\nprint([(e.tag, e.attrib) for e in root])\n"
        "c, d = copy.copy(root), copy.deepcopy(root)\nd[0].set('n', 'q')\nd.tag = 'd'\n"
        "print(ET.tostring(root, 'unicode'), ET.tostring(c, 'unicode'), ET.tostring(d, 'unicode'))\n"
        "print(root.find('x').tag, d.find(\"x[@n='q']\").tag, len(root.findall('*')), root.get('k', 3), type(root) is ET.Element)\n"
        "print(isinstance(c[0], ET.Element), ET.iselement(d), type(root), ET.Element, [*root.iter('x')] == root.findall('x'))\n"
        "for bad in (lambda: root['a'], lambda: root[9], lambda: root.append(1), lambda: ET.Element(), lambda: ET.Element('a', 1)):\n"
        "    try:\n        bad()\n    except Exception as e:\n        print(type(e).__name__, e)"
    ),
    "numbers of a class for arrays, struct, islice and bytes": (
        "import array, csv, io, itertools, struct\nclass N:\n    def __index__(self):\n        return 97\n"
        "class F:\n    def __float__(self):\n        return 1.5\nclass S(str):\n    pass\n"
        "a, d = array.array('i', [N()]), array.array('d', [F(), N()])\na.append(N())\na[0] = True\nd.insert(0, F())\n"
        "d.extend([1, N()])\nprint(a, d)\n"
        "print(struct.pack('<2dh3sx?', N(), F(), N(), b'ab', F()), struct.Struct('>f').pack(F()))\n"
        "print([*itertools.islice(range(200), N(), None, N())], b'%f %s %d %c' % (F(), b'x', 5, N()), b'%(a).2f' % {b'a': F()})\n"
        "class D(csv.excel):\n    delimiter = ';'\n"
        "print([*csv.reader(['a;b'], D)], [*csv.DictReader(['a;b', '1;2'], dialect=D())], [*csv.reader(['a,b'], dialect='excel')])\n"
        "out = io.StringIO()\ncsv.writer(out, D(), quoting=csv.QUOTE_ALL).writerow([1, 'x'])\nprint(repr(out.getvalue()))\n"
        "bads = [lambda v=v, t=t: array.array(t).append(v) for t in 'idfB' for v in (None, 'a', object(), F(), 1j)]\n"
        "bads += [lambda v=v: struct.pack('d', v) for v in ('a', S('1'), None)] + [lambda: b'%f' % S('1')]\n"
        "bads += [lambda b=b: itertools.islice([], *b) for b in ((-1,), ('a',), (S('a'),), (1, F()), (1, 2, 0))]\n"
        "for bad in bads:\n    try:\n        bad()\n        print('taken')\n    except Exception as e:\n        print(type(e).__name__, e)"
    ),
    "string.Formatter": (
        "from string import Formatter\nclass F(Formatter):\n    def get_value(self, key, args, kwargs):\n"
        "        return kwargs.get(key, '?') if isinstance(key, str) else args[key]\n"
        "    def format_field(self, value, spec):\n"
        "        return value.upper() if spec == 'u' else super().format_field(value, spec)\n"
        "print(F().format('{a:u} {b} {0} {c.real:>{w}} {1!r}', 'x', 'y', a='q', c=3, w=4))\n"
        "print([name for _, name, _, _ in Formatter().parse('a {x} {y:z}')])"
    ),
    "contextvars": (
        "import asyncio, contextvars\nv: contextvars.ContextVar[int] = contextvars.ContextVar('v', default=0)\n"
        "async def f(n):\n    token = v.set(n)\n    await asyncio.sleep(0)\n    seen = v.get()\n    v.reset(token)\n"
        "    return seen, v.get()\nasync def both():\n    return await asyncio.gather(f(1), f(2))\n"
        "print(asyncio.run(both()), v.get())\n"
        "c = contextvars.copy_context()\nc.run(v.set, 9)\nprint(v.get(), c[v], v in c)"
    ),
    "get_type_hints": (
        "from typing import Annotated, get_type_hints\nclass A:\n    x: int\n    y: 'str' = ''\n"
        "class B(A):\n    z: Annotated[int, 'm'] = 1\nprint(get_type_hints(B))\n"
        "print(get_type_hints(B, include_extras=True)['z'])"
    ),
    "http.HTTPStatus": (
        "from http import HTTPStatus\nprint(HTTPStatus(404).phrase, HTTPStatus.OK == 200, HTTPStatus['OK'].name)\n"
        "print(f'{HTTPStatus.NOT_FOUND.value} {HTTPStatus.NOT_FOUND!r}')"
    ),
    "UserDict and UserList": (
        "import copy\nfrom collections import UserDict, UserList\nclass Lower(UserDict):\n"
        "    def __setitem__(self, key, value):\n        super().__setitem__(key.lower(), value)\n"
        "d = Lower({'A': 1}, B=2)\ne = copy.copy(d)\ne['C'] = 3\n"
        "print(d, d | {'D': 1}, len(e), type(d.copy()).__name__, UserList('ab') + [1], isinstance(d, dict))"
    ),
    "redirect_stdout": (
        "import contextlib, io, sys\nout, err = io.StringIO(), io.StringIO()\n"
        "with contextlib.redirect_stdout(out) as same, contextlib.redirect_stderr(err):\n"
        "    print('a')\n    print('b', file=sys.stderr)\n"
        "    with contextlib.redirect_stdout(sys.stdout):\n        print('c')\n"
        "print(repr(out.getvalue()), repr(err.getvalue()), same is out)"
    ),
    "copies of classes": (
        "import copy\nfrom typing import TypedDict\nclass T(TypedDict):\n    a: int\nclass C:\n    pass\n"
        "print(copy.copy(T) is T, copy.deepcopy([T, C])[0] is T, copy.copy(C) is C)"
    ),
    "an import as an expression": (
        "import re\nprint(__import__('re').escape('a.b'), __import__('re') is re, __import__('zlib').crc32(b'a'))"
    ),
    "id": ("a = []\nprint(id(a) == id(a), id(a) == id([]))"),
    "hash": ("print(hash((1, 'a')) == hash((1, 'a')), hash(2.0) == hash(2), {print: 1}[print])"),
}

PRINTED = {
    "annotations of functions": (
        "import inspect\nfrom functools import wraps\nfrom typing import get_type_hints\nclass A:\n    pass\n"
        "def kept(f):\n    @wraps(f)\n    def inner(*args):\n        return f(*args)\n    return inner\n"
        "@kept\ndef f(a: int, *b: str, c: 'A | None' = None) -> list[int]:\n    pass\n"
        "print(f.__annotations__, inspect.signature(f))\nprint(get_type_hints(f)['c'] == A | None)\n"
        "print(inspect.signature(f).parameters['a'].annotation, inspect.signature(f).return_annotation)",
        "{'a': <class 'int'>, 'b': <class 'str'>, 'c': 'A | None', 'return': list[int]} "
        "(a: int, *b: str, c: 'A | None' = None) -> list[int]\nTrue\n<class 'int'> list[int]",
    ),
    "globals": (
        "x = 1\ndef f():\n    return globals()['x'] + globals().get('y', 5)\nprint(f(), 'f' in globals(), 'agent' in globals())",
        "6 True False",
    ),
    "sys": (
        "import sys\nsys.setrecursionlimit(10**6)\nprint(sys.maxsize, sys.version_info.major)",
        "9223372036854775807 3",
    ),
    "repr of a module": ("print(math)", "<module 'math' (built-in)>"),
    "a handler of one's own": (
        "import logging\nkept = []\n"
        "class Keep(logging.Handler):\n    def emit(self, record):\n"
        "        kept.append((record.levelname, record.getMessage(), record.name))\n"
        "logging.getLogger().addHandler(Keep('ERROR'))\nlogging.getLogger('a').warning('no')\n"
        "logging.getLogger('a').error('yes')\nprint(kept)",
        "[('ERROR', 'yes', 'a')]",
    ),
    "an exception logged": (
        "import logging\ntry:\n    {}['k']\nexcept KeyError:\n    logging.getLogger('a').exception('no %s', 'k')",
        "no k\nTraceback (most recent call last):\n  File \"<plan>\", line 4, in solution\nKeyError: 'k'",
    ),
    "a mistake in a log message": ("import logging\nlogging.error('%d', 'a')\nprint('on')", LOG_MISTAKE),
    "threading": (
        "import threading\nfrom concurrent.futures import ThreadPoolExecutor\nlock, done = threading.Lock(), []\n"
        "def add(n):\n    with lock:\n        done.append(n)\n    return n\n"
        "with ThreadPoolExecutor() as pool:\n    print(list(pool.map(add, [1, 2])), done, lock.locked())\n"
        "print(lock.acquire(), lock.acquire(blocking=False))\ntry:\n    lock.acquire()\n"
        "except RuntimeError as e:\n    print(e)",
        "[1, 2] [1, 2] False\nTrue False\nit is held, and no other thread runs that could change it",
    ),
    "nodes made with other names": (
        "import ast\nclass S(str):\n    def __eq__(self, other):\n        return True\n    def __hash__(self):\n"
        "        return hash('id')\ndef tell(make, names):\n    try:\n        node = make(**names)\n"
        "        print(ast.dump(node), type(node).__name__)\n    except TypeError as e:\n        print(e)\n"
        "tell(ast.alias, {'name': 'a', 'lineno': 1})\ntell(ast.Name, {'_fields': ('__class__',)})\n"
        "tell(ast.Name, {'__class__': ast.Call})\ntell(ast.Call, {'__dict__': {}})\n"
        "tell(ast.Name, {S('__class__'): ast.Call})\ntell(ast.Add, {'id': 'a'})",
        "alias(name='a') alias\nName.__init__ got an unexpected keyword argument '_fields'\n"
        "Name.__init__ got an unexpected keyword argument '__class__'\n"
        "Call.__init__ got an unexpected keyword argument '__dict__'\n"
        "Name.__init__ got an unexpected keyword argument '__class__'\n"
        "Add.__init__ got an unexpected keyword argument 'id'",
    ),
    "threads": (
        "import threading\nseen = []\ndef f(a, b=1):\n    seen.append((a, b, threading.current_thread().name))\n"
        "t = threading.Thread(target=f, args=(1,), kwargs={'b': 2}, daemon=True)\nt.start()\nt.join(timeout=1)\n"
        "class W(threading.Thread):\n    def run(self):\n        raise ValueError('no')\nw = W(name='w')\nw.start()\n"
        "print(seen, t.is_alive(), threading.current_thread() is threading.main_thread())\ncond = threading.Condition()\n"
        "with cond:\n    cond.notify_all()\n    print(cond.wait_for(lambda: 3))",
        "Exception in w: ValueError: no\n[(1, 2, 'Thread-1 (f)')] False True\n3",
    ),
    "callbacks of futures": (
        "import asyncio\nfrom concurrent.futures import Future, ThreadPoolExecutor\nseen = []\n"
        "def done(f: Future[int]):\n    seen.append(f.result())\nwith ThreadPoolExecutor() as pool:\n"
        "    f = pool.submit(lambda: 3)\n    f.add_done_callback(done)\n    f.add_done_callback(lambda f: 1 / 0)\n"
        "async def main():\n    task = asyncio.create_task(asyncio.sleep(0, 5))\n    task.add_done_callback(done)\n"
        "    await task\n    await asyncio.sleep(0)\nasyncio.run(main())\nprint(seen, isinstance(f, Future))",
        "exception calling a callback: ZeroDivisionError: division by zero\n[3, 5] True",
    ),
    "traceback": (
        "import traceback\ndef f():\n    raise ValueError('a')\ntry:\n    try:\n        f()\n"
        "    except ValueError as e:\n        raise KeyError('b') from e\nexcept KeyError:\n"
        "    print(traceback.format_exc(), end='')",
        TRACEBACK,
    ),
}
"""What is printed otherwise than in Python, for a reason, or what Python would not end."""


PYTHON = """
import contextlib, importlib, io, json, sys
modules = {name: importlib.import_module(name) for name in sys.argv[1:]}
printed = {}
for what, source in json.load(sys.stdin).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        exec(source + "solution(None)", {"__name__": "__main__", **modules})
    printed[what] = out.getvalue()
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
def in_python() -> dict[str, str]:
    """What each plan prints as a program of this Python."""
    modules = sorted(PREDEFINED_MODULES - {"large_language_model"})
    sources = json.dumps({what: plan(body) for what, body in AS_IN_PYTHON.items()})
    done = subprocess.run(
        [sys.executable, "-I", "-c", PYTHON, *modules], input=sources, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("what", AS_IN_PYTHON)
def test_it_does_what_it_does_in_python(what: str, in_python: dict[str, str]) -> None:
    ran = run(plan(AS_IN_PYTHON[what]))
    assert ran.error is None
    assert ran.output == in_python[what] != ""


@pytest.mark.parametrize("what", PRINTED)
def test_it_does_as_nearly_as_it_can_what_it_does_in_python(what: str) -> None:
    body, expected = PRINTED[what]
    ran = run(plan(body))
    assert ran.error is None
    assert ran.output == expected + "\n"


def test_a_class_variable_is_no_field_also_if_annotations_are_texts() -> None:
    head = "from __future__ import annotations\nfrom dataclasses import InitVar, dataclass, fields\nfrom typing import ClassVar\n"
    own = "@dataclass\nclass A:\n    a: int\n    b: ClassVar[dict[str, int]] = {}\n    c: InitVar[int] = 0\n"
    assert run(f"{head}{own}{plan('print([f.name for f in fields(A)])')}").output == "['a']\n"


ERRORS = {
    "JSONDecodeError": ("json.loads('[1,]')", "json.JSONDecodeError", "e.msg, e.pos, e.lineno, e.colno, e.doc"),
    "KeyError": ("{}['x']", "KeyError", "e.args"),
    "UnicodeError": (
        "b'a\\xff'.decode('ascii')",
        "UnicodeDecodeError",
        "e.start, e.end, e.reason, e.encoding, e.object",
    ),
    "StopIteration": ("next(iter([]))", "StopIteration", "e.value"),
    "OSError": ("raise FileNotFoundError(2, 'no', 'f')", "OSError", "e.errno, e.strerror, e.filename"),
    "re.error": ("re.compile('(')", "re.error", "e.msg, e.pattern, e.pos"),
    "SyntaxError": ("raise SyntaxError('a', ('f', 1, 2, 't'))", "SyntaxError", "e.msg, e.lineno, e.offset, e.text"),
}


@pytest.mark.parametrize("error", ERRORS)
def test_an_exception_has_its_own_plain_attributes(error: str) -> None:
    body, kind, attributes = ERRORS[error]
    source = f"try:\n    {body}\nexcept {kind} as e:\n    print(({attributes},))"
    told: list[object] = []
    exec(source, {"json": json, "re": importlib.import_module("re"), "print": told.append})
    assert run(plan(source)).output == f"{told[0]}\n"


def test_an_exception_does_not_tell_its_object() -> None:
    body = "try:\n    agent.nothing\nexcept AttributeError as e:\n    e.obj"
    assert "has no attribute 'obj'" in message(body)


def test_the_clock_begins_at_the_runs_start_and_is_the_same_in_every_run() -> None:
    body = (
        "import time, datetime, uuid, secrets, random\na = time.time()\ntime.sleep(0.01)\nb = time.monotonic()\n"
        "print(a, b, datetime.datetime.now(), datetime.date.today(), time.strftime('%F %T'), uuid.uuid1(), uuid.uuid4(),"
        " secrets.token_hex(4), random.Random().random(), id(a), hash(time))"
    )
    first, second = run(plan(body)), run(plan(body), settings=STARTED._replace(waits=False))
    assert first.output == second.output
    assert first.output.startswith("1700000000.000001 0.010002 2023-11-14 22:13:20.01")
    assert run(plan(body), settings=STARTED._replace(started=0.0)).output.startswith("1e-06 ")


def test_two_readings_of_a_clock_never_go_backwards() -> None:
    body = "import time\nread = [time.time_ns() for i in range(100)]\nprint(read == sorted(set(read)))"
    assert run(plan(body)).output == "True\n"


def test_all_sleeps_together_count_against_the_wall_limit_also_in_a_replay() -> None:
    settings = RunSettings(wall=2.0, waits=False)
    ran = run(plan("import time\nwhile True:\n    time.sleep(0.9)\n    print(1)"), settings=settings)
    assert ran.output == "1\n1\n"
    assert "wall" in str(ran.error)


@pytest.mark.parametrize("seconds", ["-1", "float('nan')", "'1'", "None"])
def test_a_sleep_that_python_refuses_is_refused(seconds: str) -> None:
    said = message(f"import time\ntime.sleep({seconds})")
    assert said.partition(" ")[0] == ("TypeError" if seconds in ("'1'", "None") else "ValueError")


@pytest.mark.parametrize(
    "body",
    [
        "from fractions import Fraction\nFraction(3, 2) ** 10**8",
        "import operator\noperator.pow(3, 10**8)",
        "import operator\noperator.mul('a' * 10**6, 10**4)",
        "import operator\nx = [0] * 1000\noperator.imul(x, 10**5)",
        "import operator\noperator.mod('%9999999d', 1)",
        "import logging\nlogging.error('%9999999d', 1)",
        "import zlib\na = bytes(19_000_000)\nzlib.decompress(zlib.compress(a + a))",
        "int.from_bytes(bytes(10**7), 'big')",
        "import random\nrandom.getrandbits(10**8)",
    ],
)
def test_a_huge_value_of_a_few_characters_is_a_limit(body: str) -> None:
    assert "memory" in str(run(plan(body)).error)


def test_attributes_by_a_plans_text_are_those_of_the_guard() -> None:
    for get in ("attrgetter('_secret')", "attrgetter('report._x')", "methodcaller('__class__')"):
        assert "has no" in message(f"import operator\noperator.{get}(agent)")
    assert "private" in message("import operator\noperator.attrgetter('report.__globals__')(agent)")
    assert "has no attribute 'func'" in message("import operator\noperator.attrgetter('func')('a'.format)")


@pytest.mark.parametrize(
    "body",
    [
        *("import os\nos.listdir('.')", "import os as o\no.path.exists('a')", "import os.path\nos.path.abspath('a')"),
        *("from os import path as p\np.isfile('a')", "from os import listdir", "from pathlib import PosixPath"),
    ],
)
def test_what_would_reach_files_is_refused_before_anything_runs(body: str) -> None:
    said = " ".join(d.message for d in refused(plan(body)).diagnostics)
    assert "plans cannot reach files; use the agent's methods" in said


@pytest.mark.parametrize(
    ("body", "name"), [("import threading\nthreading.settrace(f)", "settrace"), ("x = string.hexdigit", "hexdigit")]
)
def test_what_a_module_lacks_is_refused_before_anything_runs(body: str, name: str) -> None:
    assert f"has no `{name}` here; it has: " in " ".join(d.message for d in refused(plan(body)).diagnostics)


@pytest.mark.parametrize(
    "body",
    ["string = 'a'\nprint(string.upper())", "import itertools\nif False:\n    itertools.batched", "math = agent"],
)
def test_a_name_that_may_be_something_else_or_newer_is_not_refused(body: str) -> None:
    assert run(plan(body)).error is None


def test_a_path_reaches_no_file() -> None:
    assert "plans cannot reach files; use the" in message("from pathlib import Path\nPath('a').read_text()")


@pytest.mark.parametrize("module", sorted(REFUSED_MODULES))
def test_a_refused_module_has_a_sentence_of_its_own(module: str) -> None:
    said = " ".join(d.message for d in refused(plan(f"import {module}")).diagnostics)
    assert f"`{module}` cannot be imported; {REFUSED_MODULES[module]}" in said


def test_a_module_that_needs_an_import_says_so() -> None:
    for module in ALLOWED_MODULES.keys() - PREDEFINED_MODULES - {"large_language_model"}:
        if "." not in module:
            said = " ".join(d.message for d in refused(plan(f"print({module})")).diagnostics)
            assert f"write `import {module}` first" in said


def test_a_precision_is_bounded() -> None:
    assert message("import decimal\ndecimal.Context(prec=10**9)") == "ValueError prec may be 10,000 at most"


def test_a_dialect_is_gone_in_the_next_run() -> None:
    runtime = PlanRuntime(compile_expression)
    body = (
        "import csv\nprint(csv.list_dialects(), csv.get_dialect('excel').delimiter)\n"
        "csv.register_dialect('mine', delimiter='|')\ncsv.register_dialect('excel', delimiter=';')\n"
        "csv.unregister_dialect('unix')"
    )
    first, second = (run(plan(body), runtime=runtime) for _ in range(2))
    assert first.output == second.output == "['excel', 'excel-tab', 'unix'] ,\n"


def test_the_arguments_of_the_program_are_gone_in_the_next_run() -> None:
    runtime = PlanRuntime(compile_expression)
    body = "import sys\nprint(sys.argv)\nsys.argv.append('kept')"
    assert [run(plan(body), runtime=runtime).output for _ in range(2)] == ["['plan']\n"] * 2


@pytest.mark.parametrize(
    "arguments", ["b'', b'', 1_000_001", "b'', b'', 500_001, 64", "b'', b'', 1, 40_000_000", "b'', b'', Big(2_000_000)"]
)
def test_the_work_for_a_key_is_bounded(arguments: str) -> None:
    body = f"import hashlib\nclass Big(int):\n    def __mul__(self, other):\n        return 0\nhashlib.pbkdf2_hmac('sha256', {arguments})"
    assert "computes at most 1,000,000 iterations" in message(body)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Python 3.13 brings kde_random")
def test_samples_of_an_estimated_density_are_the_same_in_every_run() -> None:
    body = "import statistics\npick = statistics.kde_random([1.0, 2.0], 0.5)\nprint([pick() for _ in range(3)])"
    assert run(plan(body)).output == run(plan(body)).output != run(plan(body), settings=RunSettings(seed=1)).output
    seeded = body.replace("0.5", "0.5, seed=3")
    assert run(plan(seeded)).output == run(plan(seeded), settings=RunSettings(seed=1)).output != run(plan(body)).output


def test_random_bytes_of_the_system_are_the_same_in_every_run() -> None:
    body = "import os\nprint(os.urandom(8), len(os.urandom(0)))"
    assert run(plan(body)).output == run(plan(body)).output != run(plan(body), settings=RunSettings(seed=1)).output
    assert message("import os\nos.urandom(-1)") == "ValueError negative argument not allowed"


def test_marks_stay_on_what_is_the_plan_s() -> None:
    ran = run(
        plan(
            "import abc, collections.abc, json, string, typing\nclass P(typing.Protocol):\n    x: int\nclass A:\n    x = 1\n"
            "things = typing.Protocol, typing.SupportsInt, string.Template, json.dumps, collections.abc.Sized, abc.ABC\n"
            "for mark in typing.final, abc.abstractmethod, typing.overload:\n    for thing in things:\n"
            "        mark(thing)\nprint(typing.runtime_checkable(typing.Protocol) is typing.Protocol)\n"
            "try:\n    isinstance(A(), P)\nexcept TypeError as e:\n    print('no')"
        )
    )
    assert ran.error is None
    assert ran.output == "True\nno\n"
    for thing in (typing.Protocol, typing.SupportsInt, string.Template, json.dumps, collections.abc.Sized, abc.ABC):
        assert not {"__final__", "__isabstractmethod__"} & vars(thing).keys()
    assert not typing.Protocol._is_runtime_protocol
