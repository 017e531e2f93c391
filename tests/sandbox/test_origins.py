"""Where the arguments of a plan's calls come from: data keeps its origin, whatever a plan does with it."""

from __future__ import annotations

import random
import textwrap
from typing import Any

import pytest

from codeplan.sandbox.analysis.origins import find_origins

TOOLS = ("page", "note", "contacts", "send", "pay")

LAUNDERERS = {
    "helper": "def pass_on(x):\n    y = x\n    return y\n{w} = pass_on({v})",
    "helper by name": "def named(a, *, b=''):\n    return b or a\n{w} = named('', b={v})",
    "extra arguments": "def many(*xs, **ys):\n    return [*xs, *ys.values()][0]\n{w} = many({v}, k=1)",
    "extra names": "def by_name(**ys):\n    return ys['k']\n{w} = by_name(k={v})",
    "default argument": "def default(x={v}):\n    return x\n{w} = default()",
    "default by name": "def default_of(*, x={v}, y=1):\n    return x\n{w} = default_of()",
    "recursion": "def deep(n, x):\n    return x if n == 0 else deep(n - 1, x)\n{w} = deep(5, {v})",
    "lambda": "{w} = (lambda a: a)({v})",
    "closure": "kept{n} = {v}\ndef read():\n    return kept{n}\n{w} = read()",
    "nonlocal": "def outer():\n    held = ''\n    def put(x):\n        nonlocal held\n        held = x\n    put({v})\n    return held\n{w} = outer()",
    "comprehension": "{w} = [c for c in [{v}]][0]",
    "dict comprehension": "{w} = {{k: x for k, x in [('a', {v})]}}['a']",
    "dict key": "{w} = list({{{v}: 1}})[0]",
    "computed key": "d{n} = {{}}\nd{n}[{v}] = 1\n{w} = next(iter(d{n}))",
    "set": "{w} = ''.join({{{v}}})",
    "f-string": "{w} = f'{{{v}}}'",
    "format": "{w} = '{{}}'.format({v})",
    "percent": "{w} = '%s' % {v}",
    "concatenation": "{w} = '' + {v} + ''",
    "slices": "{w} = {v}[:3] + {v}[3:]",
    "join of characters": "{w} = ''.join(c for c in {v})",
    "split": "{w} = ' '.join({v}.split(' '))",
    "replace": "{w} = 'x'.replace('x', {v})",
    "method as a value": "m{n} = {v}.strip\n{w} = m{n}()",
    "map": "{w} = list(map(str, [{v}]))[0]",
    "map of a method": "{w} = list(map(str.strip, [{v}]))[0]",
    "sorting": "{w} = sorted(['', {v}], key=len)[-1]",
    "sorting by a key that keeps": "saved{n} = []\nsorted([{v}], key=lambda x: saved{n}.append(x) or 0)\n{w} = saved{n}[0]",
    "max": "{w} = max([{v}, ''], key=len)",
    "zip": "{w} = [b for a, b in zip([1], [{v}])][0]",
    "enumerate": "{w} = [b for a, b in enumerate([{v}])][0]",
    "alias of a list": "a{n} = []\nb{n} = a{n}\nb{n}.append({v})\n{w} = a{n}[0]",
    "alias in a dict": "l{n} = []\nh{n} = {{'l': l{n}}}\nh{n}['l'].append({v})\n{w} = l{n}[0]",
    "default list": "from collections import defaultdict\nq{n} = defaultdict(list)\nr{n} = q{n}['k']\nr{n}.append({v})\n{w} = q{n}['k'][0]",
    "bound method of a list": "s{n} = []\nput{n} = s{n}.append\nput{n}({v})\n{w} = s{n}[0]",
    "mutation in a helper": "def fill(xs, x):\n    xs.append(x)\nt{n} = []\nfill(t{n}, {v})\n{w} = t{n}[0]",
    "mutation of a global": "u{n} = []\ndef remember(x):\n    u{n}.append(x)\nremember({v})\n{w} = u{n}[0]",
    "augmented": "w_{n} = ''\nw_{n} += {v}\n{w} = w_{n}",
    "augmented list": "x_{n} = []\ny_{n} = x_{n}\ny_{n} += [{v}]\n{w} = x_{n}[0]",
    "setdefault": "z{n} = {{}}\nz{n}.setdefault('k', []).append({v})\n{w} = z{n}['k'][0]",
    "update": "g{n} = {{}}\ng{n}.update(k={v})\n{w} = g{n}['k']",
    "tuple": "_, {w} = (1, {v})",
    "starred": "_, *rest{n} = [1, {v}]\n{w} = rest{n}[0]",
    "walrus": "({w} := {v})",
    "conditional": "{w} = {v} if {v} else 'b'",
    "or": "{w} = '' or {v}",
    "loop": "for {w} in [{v}]:\n    pass",
    "while": "p{n} = [{v}]\nwhile p{n}:\n    {w} = p{n}.pop()",
    "exception": "try:\n    raise ValueError({v})\nexcept ValueError as e:\n    {w} = e.args[0]",
    "exception of a helper": "def fail(x):\n    raise KeyError(x)\ntry:\n    fail({v})\nexcept KeyError as e:\n    {w} = e.args[0]",
    "message of an error": 'try:\n    int({v})\nexcept ValueError as e:\n    {w} = str(e).split("\'")[1]',
    "assertion": "try:\n    assert False, {v}\nexcept AssertionError as e:\n    {w} = str(e)",
    "class": "class Box:\n    def __init__(self, x):\n        self.x = x\n{w} = Box({v}).x",
    "method": "class Keeper:\n    def put(self, x):\n        self.x = x\n    def get(self):\n        return self.x\nk{n} = Keeper()\nk{n}.put({v})\n{w} = k{n}.get()",
    "property": "class Prop:\n    def __init__(self, x):\n        self._x = x\n    @property\n    def value(self):\n        return self._x\n{w} = Prop({v}).value",
    "special method": "class Adder:\n    def __init__(self, x):\n        self.x = x\n    def __str__(self):\n        return self.x\n{w} = str(Adder({v}))",
    "operator": "class Left:\n    def __add__(self, x):\n        return x\n{w} = Left() + {v}",
    "item of a class": "class Items:\n    def __getitem__(self, x):\n        return x\n{w} = Items()[{v}]",
    "class attribute": "class Shared:\n    kept = ''\nShared.kept = {v}\n{w} = Shared().kept",
    "class method": "class Maker:\n    @classmethod\n    def make(cls, x):\n        m = cls()\n        m.x = x\n        return m\n{w} = Maker.make({v}).x",
    "inheritance": "class Base:\n    def __init__(self, x):\n        self.x = x\nclass Derived(Base):\n    pass\n{w} = Derived({v}).x",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass Record:\n    a: str\n{w} = Record({v}).a",
    "named tuple": "from collections import namedtuple\nPair{n} = namedtuple('Pair{n}', 'a')\n{w} = Pair{n}({v}).a",
    "setattr": "class Plain:\n    pass\no{n} = Plain()\nsetattr(o{n}, 'a', {v})\n{w} = getattr(o{n}, 'a')",
    "generator": "def produce(x):\n    yield x\n{w} = next(produce({v}))",
    "generator that is sent": "def echo():\n    got = yield ''\n    yield got\ng_{n} = echo()\nnext(g_{n})\n{w} = g_{n}.send({v})",
    "yield from": "def inner(x):\n    yield x\ndef outer_(x):\n    yield from inner(x)\n{w} = list(outer_({v}))[0]",
    "decorator": "def twice(f):\n    def call(x):\n        return f(x)\n    return call\n@twice\ndef same(x):\n    return x\n{w} = same({v})",
    "context": "from contextlib import contextmanager\n@contextmanager\ndef opened(x):\n    yield x\nwith opened({v}) as {w}:\n    pass",
    "own context": "class Ctx:\n    def __init__(self, x):\n        self.x = x\n    def __enter__(self):\n        return self.x\n    def __exit__(self, *a):\n        return None\nwith Ctx({v}) as {w}:\n    pass",
    "match": "match {{'k': {v}}}:\n    case {{'k': {w}}}:\n        pass",
    "match of a sequence": "match [1, {v}]:\n    case [_, {w}]:\n        pass",
    "partial": "from functools import partial\n{w} = partial(lambda a, b: b, 1)({v})",
    "bound in a partial": "from functools import partial\n{w} = partial(str.strip, {v})()",
    "reduce": "from functools import reduce\n{w} = reduce(lambda a, b: a + b, ['', {v}])",
    "json": "import json\n{w} = json.loads(json.dumps({{'a': {v}}}))['a']",
    "regular expression": "import re\n{w} = re.search('.+', {v}).group(0)",
    "substitution": "import re\n{w} = re.sub('x', lambda m: {v}, 'x')",
    "string io": "import io\nbuf{n} = io.StringIO()\nbuf{n}.write({v})\n{w} = buf{n}.getvalue()",
    "heap": "import heapq\nheap{n} = []\nheapq.heappush(heap{n}, {v})\n{w} = heap{n}[0]",
    "deque": "from collections import deque\ndq{n} = deque()\ndq{n}.appendleft({v})\n{w} = dq{n}.pop()",
    "chain": "from itertools import chain\n{w} = list(chain([{v}], []))[0]",
    "table of functions": "ways{n} = {{'a': lambda x: x}}\n{w} = ways{n}['a']({v})",
    "function in a list": "def one(x):\n    return x\nfs{n} = [one]\n{w} = fs{n}[0]({v})",
    "codes of characters": "{w} = ''.join(chr(c) for c in [ord(c) for c in {v}])",
    "alphabet": "import string\n{w} = ''.join(string.printable[string.printable.index(c)] for c in {v})",
    "translation": "{w} = {v}.translate(str.maketrans('', ''))",
    "encoding": "{w} = {v}.encode().decode()",
    "base64": "import base64\n{w} = base64.b64decode(base64.b64encode({v}.encode())).decode()",
    "reversing twice": "{w} = {v}[::-1][::-1]",
    "items": "{w} = [x for k, x in {{'a': {v}}}.items()][0]",
    "values": "{w} = list({{'a': {v}}}.values())[0]",
    "nested get": "{w} = {{'a': {{'b': {v}}}}}.get('a', {{}}).get('b')",
    "unpacked dict": "{w} = {{**{{'a': {v}}}}}['a']",
    "copy": "import copy\n{w} = copy.deepcopy([{v}])[0]",
    "a tool that echoes": "{w} = agent.note({v})",
    "literal_eval": "import ast\n{w} = ast.literal_eval(repr({v}))",
    "async": "import asyncio\nasync def wait(x):\n    return x\n{w} = asyncio.run(wait({v}))",
    "finally": "try:\n    f{n} = ''\nfinally:\n    f{n} = {v}\n{w} = f{n}",
    "del and set": "e{n} = 'a'\ndel e{n}\ne{n} = {v}\n{w} = e{n}",
    "class attr tuple": "class A:\n    x, y = {v}, 1\n{w} = A.x",
    "class attr from attr": "class A:\n    x = {v}\n    y = x\n{w} = A.y",
    "class body for": "class A:\n    for x in [{v}]:\n        pass\n{w} = A.x",
    "class body if": "class A:\n    if {v}:\n        x = {v}\n{w} = A.x",
    "class body aug": "class A:\n    x = ''\n    x += {v}\n{w} = A.x",
    "nested class": "class A:\n    class B:\n        x = {v}\n{w} = A.B.x",
    "dispatch methods": "class V:\n    def a(self, x):\n        return x\n    table = {{'k': a}}\n{w} = V.table['k'](None, {v})",
    "match value eq": "saved = []\nclass E:\n    def __eq__(self, o):\n        saved.append(o)\n        return True\nclass K:\n    x = E()\nmatch {v}:\n    case K.x:\n        pass\n{w} = saved[0]",
    "getitem saves": "saved = []\nclass I:\n    def __getitem__(self, k):\n        saved.append(k)\nI()[{v}]\n{w} = saved[0]",
    "exit args": "saved = []\nclass C:\n    def __enter__(self):\n        return self\n    def __exit__(self, *a):\n        saved.append(a[1].args[0])\n        return True\nwith C():\n    raise ValueError({v})\n{w} = saved[0]",
    "function attribute": "def f():\n    pass\nf.x = {v}\n{w} = f.x",
    "delitem hook": "saved = []\nclass P:\n    def __delitem__(self, k):\n        saved.append(k)\np = P()\ndel p[{v}]\n{w} = saved[0]",
    "contextmanager catches": "saved = []\nfrom contextlib import contextmanager\n@contextmanager\ndef catch():\n    try:\n        yield 1\n    except ValueError as e:\n        saved.append(str(e))\nwith catch():\n    raise ValueError({v})\n{w} = saved[0]",
    "generator throw": "saved = []\ndef g():\n    try:\n        yield 1\n    except ValueError as e:\n        saved.append(str(e))\n        yield 2\nk = g()\nnext(k)\nk.throw(ValueError({v}))\n{w} = saved[0]",
    "generator raises late": "def g(x):\n    yield 1\n    raise ValueError(x)\nk = g({v})\nnext(k)\ntry:\n    next(k)\nexcept ValueError as e:\n    {w} = e.args[0]",
    "async raises late": "import asyncio\nasync def f(x):\n    raise ValueError(x)\none = f({v})\ntry:\n    asyncio.run(one)\nexcept ValueError as e:\n    {w} = e.args[0]",
    "map raises late": "def f(x):\n    raise ValueError(x)\np = map(f, [{v}])\ntry:\n    list(p)\nexcept ValueError as e:\n    {w} = e.args[0]",
    "attribute error obj": "try:\n    {v}.foo\nexcept AttributeError as e:\n    {w} = e.obj",
    "import alias setattr": "from functools import reduce as setattr\n{w} = setattr(lambda x, y: x + y, [{v}], '')",
    "import alias list": "from json import dumps as list\n{w} = list({v})[1:-1]",
    "pop twice": "xs = ['', {v}]\nxs.pop(0)\n{w} = xs.pop(0)",
    "reverse": "xs = ['', {v}]\nxs.reverse()\n{w} = xs[0]",
    "sort": "xs = ['z', {v}]\nxs.sort()\n{w} = xs[0]",
    "insert shift": "xs = [{v}, '']\nxs.insert(0, '')\n{w} = xs[1]",
    "del shift": "xs = ['', {v}]\ndel xs[0]\n{w} = xs[0]",
    "remove shift": "xs = ['', {v}]\nxs.remove('')\n{w} = xs[0]",
    "slice assign": "xs = ['', {v}]\nxs[0:1] = []\n{w} = xs[0]",
    "aug mult alias": "xs = [{v}]\nys = xs\nxs *= 2\n{w} = ys[1]",
    "heapify": "import heapq\nxs = ['z', {v}]\nheapq.heapify(xs)\n{w} = xs[0]",
    "insort": "import bisect\nxs = [{v}]\nbisect.insort(xs, 'a')\n{w} = xs[1]",
    "break": "for _ in [1]:\n    {w} = {v}\n    if {v}:\n        break\n    {w} = ''",
    "continue": "for _ in [1]:\n    {w} = {v}\n    if {v}:\n        continue\n    {w} = ''",
    "while break": "while True:\n    {w} = {v}\n    if {v}:\n        break\n    {w} = ''\n    break",
    "try nested": "try:\n    for x in [1]:\n        {w} = {v}\n        int('x')\n        {w} = ''\nexcept ValueError:\n    pass",
    "try finally in loop": "for _ in [1]:\n    try:\n        {w} = {v}\n        continue\n    finally:\n        pass\n    {w} = ''",
    "suppress": "from contextlib import suppress\nwith suppress(ValueError):\n    {w} = {v}\n    int('x')\n    {w} = ''",
    "and walrus": "{w} = {v}\n'' and ({w} := 'x')",
    "ifexp walrus": "{w} = {v}\n1 if 1 else ({w} := 'x')",
    "comp walrus empty": "{w} = {v}\n[{w} := 'x' for _ in []]",
    "comp walrus carry": "p = ''\n{w} = [(p, p := one)[0] for one in [{v}, 'x']][1]",
    "compare walrus": "{w} = {v}\n0 > 1 > ({w} := 'x')",
    "init subclass kw": "class B:\n    def __init_subclass__(cls, tag='', **k):\n        cls.tag = tag\nclass C(B, tag={v}):\n    pass\n{w} = C.tag",
    "class getitem": "saved = []\nclass B:\n    def __class_getitem__(cls, k):\n        saved.append(k)\nB[{v}]\n{w} = saved[0]",
    "super other name": "class Aa:\n    def put(self, x):\n        self.x = x\nclass B(Aa):\n    def keep(self, x):\n        super().put(x)\nb = B()\nb.keep({v})\n{w} = b.x",
    "singledispatch": "from functools import singledispatch\n@singledispatch\ndef f(x):\n    return ''\n@f.register(str)\ndef g(x):\n    return x\n{w} = f({v})",
    "dunder class": "class O:\n    x = ''\no = O()\no.__class__.x = {v}\n{w} = O.x",
    "future": "import asyncio\nasync def m():\n    f = asyncio.get_running_loop().create_future()\n    f.set_result({v})\n    return await f\n{w} = asyncio.run(m())",
    "pool callback": "saved = []\nfrom concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as p:\n    p.submit(lambda: {v}).add_done_callback(lambda f: saved.append(f.result()))\n{w} = saved[0]",
    "closing redirect": "import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    print({v}, end='')\n{w} = b.getvalue()",
    "print file": "import io\nb = io.StringIO()\nprint({v}, file=b, end='')\n{w} = b.getvalue()",
    "dunder dict": "class V:\n    pass\nv = V()\nv.__dict__['n'] = {v}\n{w} = v.n",
    "property call": "class P:\n    def get(self):\n        return {v}\n    v = property(get)\n{w} = P().v",
    "operator add": "import operator\n{w} = operator.add('', {v})",
    "unbound method": "class K:\n    def put(self, x):\n        self.x = x\nk = K()\nK.put(k, {v})\n{w} = k.x",
    "property setter": "saved = []\nclass P:\n    @property\n    def v(self):\n        return 1\n    @v.setter\n    def v(self, x):\n        saved.append(x)\nP().v = {v}\n{w} = saved[0]",
    "setitem key hook": "saved = []\nclass P:\n    def __setitem__(self, n, x):\n        saved.append(n)\nP()[{v}] = 1\n{w} = saved[0]",
    "descriptor set": "saved = []\nclass D:\n    def __set__(self, o, x):\n        saved.append(x)\nclass P:\n    v = D()\nP().v = {v}\n{w} = saved[0]",
    "hash hook": "saved = []\nclass H:\n    def __init__(self, x):\n        self.x = x\n    def __hash__(self):\n        saved.append(self.x)\n        return 1\n{{H({v})}}\n{w} = saved[0]",
    "str raises": "class P:\n    def __init__(self, x):\n        self.x = x\n    def __str__(self):\n        raise ValueError(self.x)\np = P({v})\ntry:\n    str(p)\nexcept ValueError as e:\n    {w} = e.args[0]",
    "stop iteration value": "def g(x):\n    yield 1\n    return x\nk = g({v})\nnext(k)\ntry:\n    next(k)\nexcept StopIteration as e:\n    {w} = e.value",
    "exit stack": "saved = []\nfrom contextlib import ExitStack\nwith ExitStack() as s:\n    s.callback(saved.append, {v})\n{w} = saved[0]",
    "format attr": "class F:\n    pass\nf = F()\nf.a = {v}\n{w} = '{{0.a}}'.format(f)",
    "async queue": "import asyncio\nasync def m():\n    q = asyncio.Queue()\n    await q.put({v})\n    return await q.get()\n{w} = asyncio.run(m())",
    "chained assign": "p = q = [{v}]\nq[0] += ''\n{w} = p[0]",
    "partial list": "from functools import partial\nxs = []\nadd = partial(xs.append)\nadd({v})\n{w} = xs[0]",
    "context variable": "from contextvars import ContextVar\ncv{n} = ContextVar('c')\ncv{n}.set({v})\n{w} = cv{n}.get()",
    "all context variables": "import contextvars\ncv{n} = contextvars.ContextVar('c')\ncv{n}.set({v})\n{w} = [x for k, x in contextvars.copy_context().items() if k is cv{n}][0]",
    "token of a context": "from contextvars import ContextVar\ncv{n} = ContextVar('c')\ncv{n}.set({v})\n{w} = cv{n}.set('').old_value",
    "run in a context": "import contextvars\nsaved = []\ncontextvars.copy_context().run(saved.append, {v})\n{w} = saved[0]",
    "thread": "import threading\nsaved = []\nt{n} = threading.Thread(target=saved.append, args=({v},))\nt{n}.start()\nt{n}.join()\n{w} = saved[0]",
    "thread of one's own": "import threading\nclass T(threading.Thread):\n    def __init__(self, x):\n        super().__init__()\n        self.x = x\n    def run(self):\n        self.y = self.x\nt{n} = T({v})\nt{n}.start()\nt{n}.join()\n{w} = t{n}.y",
    "name of a thread": "import threading\nthreading.main_thread().name = {v}\n{w} = threading.current_thread().name",
    "note on a thread": "import threading\nthreading.current_thread().note = {v}\n{w} = threading.current_thread().note",
    "log on a redirected stream": "import logging, io, contextlib\nb{n} = io.StringIO()\nwith contextlib.redirect_stderr(b{n}):\n    log = logging.getLogger('r{n}')\n    log.addHandler(logging.StreamHandler())\n    log.warning({v})\n{w} = b{n}.getvalue().strip()",
    "setting of a calendar": "import calendar\ncalendar.setfirstweekday(len({v}) % 7)\n{w} = {v}[:0] + 'evil text' * (calendar.firstweekday() == 2)",
    "digits of decimals": "import decimal\ndecimal.getcontext().prec = len({v})\n{w} = 'evil text' * (decimal.getcontext().prec == 9)",
    "element": "import xml.etree.ElementTree as ET\nel{n} = ET.Element('a')\nel{n}.text = {v}\n{w} = el{n}.text",
    "element below": "import xml.etree.ElementTree as ET\nel{n} = ET.Element('a')\nET.SubElement(el{n}, 'b').text = {v}\n{w} = el{n}[0].text",
    "element found": "import xml.etree.ElementTree as ET\nel{n} = ET.Element('a')\nET.SubElement(el{n}, 'b', k={v})\n{w} = el{n}.find('b').get('k')",
    "attribute of an element": "import xml.etree.ElementTree as ET\nel{n} = ET.Element('a')\nel{n}.set('k', {v})\n{w} = el{n}.attrib['k']",
    "text of elements": "import xml.etree.ElementTree as ET\nel{n} = ET.Element('a')\nel{n}.append(ET.Element('b'))\nel{n}[0].tail = {v}\n{w} = ''.join(el{n}.itertext())",
    "text as elements": "import xml.etree.ElementTree as ET\n{w} = ET.fromstring('<a>' + {v} + '</a>').text",
    "elements as text": "import xml.etree.ElementTree as ET\nel{n} = ET.Element('a')\nel{n}.text = {v}\n{w} = ET.tostring(el{n}, 'unicode')[3:-4]",
    "formatter": "import string\n{w} = string.Formatter().format('{{}}', {v})",
    "formatter of one's own": "import string\nclass F(string.Formatter):\n    def get_value(self, k, a, kw):\n        return {v}\n{w} = F().format('{{x}}')",
    "values that a formatter saw": "import string\nsaved = []\nclass F(string.Formatter):\n    def format_field(self, x, spec):\n        saved.append(x)\n        return ''\nF().format('{{}}', {v})\n{w} = saved[0]",
    "encoder of one's own": "import json\nclass E(json.JSONEncoder):\n    def default(self, o):\n        return {v}\nclass Odd:\n    pass\n{w} = json.dumps([Odd()], cls=E)[2:-2]",
    "handler of one's own": "import logging\nsaved = []\nclass H(logging.Handler):\n    def emit(self, record):\n        saved.append(record.getMessage())\nlogging.getLogger('l{n}').addHandler(H())\nlogging.getLogger('l{n}').warning({v})\n{w} = saved[0]",
    "note on a logger": "import logging\nlogging.getLogger('m{n}').note = {v}\n{w} = logging.getLogger('m{n}').note",
    "name of a logger": "import logging\nlogging.getLogger({v})\n{w} = logging.getLogger({v}).name",
    "stream of a log": "import io, logging\nb{n} = io.StringIO()\nlog = logging.getLogger('s{n}')\nlog.addHandler(logging.StreamHandler(b{n}))\nlog.warning({v})\n{w} = b{n}.getvalue()[:-1]",
    "filter of a log": "import logging\nsaved = []\nlog = logging.getLogger('f{n}')\nlog.addFilter(lambda r: saved.append(r.msg))\nlog.warning({v})\n{w} = saved[0]",
    "own dict": "from collections import UserDict\nclass D(UserDict):\n    def __setitem__(self, k, x):\n        super().__setitem__(k, x + {v})\nd{n} = D(a='')\n{w} = d{n}['a']",
    "seed": "import random\nrandom.seed({v})\nfirst = random.getstate()\n{w} = {v}",
    "section of a config": "import configparser\ncp{n} = configparser.ConfigParser()\ncp{n}['a'] = {{'k': {v}}}\n{w} = cp{n}['a']['k']",
    "names by a config": "import configparser\nsaved = []\ncp{n} = configparser.ConfigParser()\ncp{n}.optionxform = lambda x: saved.append(x) or x\ncp{n}.read_dict({{'a': {{{v}: '1'}}}})\n{w} = saved[0]",
    "order of a graph": "import graphlib\n{w} = list(graphlib.TopologicalSorter({{'a': [{v}]}}).static_order())[0]",
    "queue": "import queue\nq{n} = queue.Queue()\nq{n}.put({v})\n{w} = q{n}.get()",
    "warning": "import warnings\nwith warnings.catch_warnings(record=True) as caught:\n    warnings.simplefilter('always')\n    warnings.warn({v})\n    {w} = str(caught[0].message)",
    "local": "import threading\nlo{n} = threading.local()\nlo{n}.x = {v}\n{w} = lo{n}.x",
    "traceback": "import traceback\ntry:\n    raise ValueError({v})\nexcept ValueError:\n    {w} = traceback.format_exc().split(': ')[-1].strip()",
    "state of random numbers": "import random\ncodes = [ord(c) for c in {v}]\nst{n} = random.getstate()\nrandom.setstate((3, tuple(codes + [0] * (624 - len(codes)) + [624]), None))\n{w} = ''.join(chr(x) for x in random.getstate()[1][:9])\nrandom.setstate(st{n})",
    "digits of a quotient": "import decimal\ndecimal.getcontext().prec = len({v})\n{w} = 'evil text' * (len(str(decimal.Decimal(1) / 3)) == 11)\ndecimal.getcontext().prec = 28",
    "choice after a seed": "from random import seed, choice\nseed({v})\na{n} = choice(range(10000))\nseed('evil text')\n{w} = 'evil text' * (a{n} == choice(range(10000)))",
    "set by symmetric difference": "s{n} = {{''}}\ns{n}.symmetric_difference_update([{v}, ''])\n{w} = list(s{n})[0]",
    "update by its special name": "s{n} = {{'a': ''}}\ns{n}.__ior__({{'a': {v}}})\n{w} = s{n}['a']",
    "formatter under another name": "from string import Formatter as Generic\nclass F(Generic):\n    def get_value(self, k, a, kw):\n        return {v}\n{w} = F().format('{{x}}')",
    "formatter in a class": "import string\nclass N:\n    ABC = string.Formatter\nclass F(N.ABC):\n    def get_value(self, k, a, kw):\n        return {v}\n{w} = F().format('{{x}}')",
    "method of a mixin for a formatter": "import string\nclass M:\n    def get_value(self, k, a, kw):\n        return {v}\nclass F(M, string.Formatter):\n    pass\n{w} = F().format('{{x}}')",
    "lambda as a method of a formatter": "import string\nsaved = []\nclass F(string.Formatter):\n    format_field = lambda self, x, spec: saved.append(x) or ''\nF().format('{{}}', {v})\n{w} = saved[0]",
    "method by a decorator": "import string\nsaved = []\ndef patch(c):\n    c.format_field = lambda self, x, spec: saved.append(x) or ''\n    return c\n@patch\nclass F(string.Formatter):\n    pass\nF().format('{{}}', {v})\n{w} = saved[0]",
    "formatter that calls its base": "import string\nclass F(string.Formatter):\n    def format(self, *a):\n        return super().format(*a)\n    def get_value(self, k, a, kw):\n        return {v}\n{w} = F().format('{{x}}')",
    "lambda as a special method": "saved = []\nclass C:\n    __add__ = lambda self, o: saved.append(o)\nC() + {v}\n{w} = saved[0]",
    "bound method as a special method": "saved = []\nclass C:\n    __getitem__ = saved.append\nC()[{v}]\n{w} = saved[0]",
    "set name writes to the owner": "class D:\n    def __set_name__(self, o, name):\n        o.kept = {v}\nclass C:\n    x = D()\n{w} = C.kept",
    "constant item of a class": "class C:\n    def __getitem__(self, k):\n        return {v}\n{w} = C()['a']",
    "object by another object": "class C:\n    def __new__(cls):\n        return {v}\n{w} = C()",
    "context as a decorator": "from contextlib import ContextDecorator\nsaved = []\nclass C(ContextDecorator):\n    def __enter__(self):\n        return self\n    def __exit__(self, t, e, tb):\n        saved.append(e.args[0])\n        return True\n@C()\ndef f():\n    raise ValueError({v})\nf()\n{w} = saved[0]",
    "config written to a stream": "import configparser, io\nc{n} = configparser.ConfigParser()\nc{n}['a'] = {{'k': {v}}}\nb{n} = io.StringIO()\nc{n}.write(b{n})\n{w} = b{n}.getvalue().split('= ')[1].strip()",
    "config of one's own": "import configparser\nclass C(configparser.ConfigParser):\n    def get(self, s, o, **k):\n        return {v}\nc{n} = C()\nc{n}.read_string('[a]\\nk = 1')\n{w} = c{n}['a']['k']",
    "missing member": "from enum import Enum\nsaved = []\nclass E(Enum):\n    A = 1\n    @classmethod\n    def _missing_(cls, x):\n        saved.append(x)\n        return cls.A\nE({v})\n{w} = saved[0]",
    "value by auto": "from enum import Enum, auto\nclass E(Enum):\n    def _generate_next_value_(name, start, count, last):\n        return {v}\n    A = auto()\n{w} = E.A.value",
    "member with attributes": "from enum import Enum\nclass E(Enum):\n    A = ({v}, 1)\n    def __init__(self, x, y):\n        self.label = x\n{w} = E.A.label",
    "note on a member": "from enum import Flag\nclass F(Flag):\n    A = 1\nF.A.note = {v}\n{w} = F.A.note",
    "annotation in a class": "class A:\n    x: {v}\n{w} = A.__annotations__['x']",
    "annotation of a base": "class A:\n    x: {v}\nclass B(A):\n    pass\n{w} = B.__mro__[1].__annotations__['x']",
    "match of a dict of one's own": "class M(dict):\n    def get(self, k, d=None):\n        return {v}\nmatch M(a=1):\n    case {{'a': {w}}}:\n        pass",
    "stream into bytes": "import io\nb{n} = bytearray(9)\nio.BytesIO({v}.encode()).readinto(b{n})\n{w} = b{n}.decode()",
    "method by a caller": "import operator\nxs{n} = []\noperator.methodcaller('append', {v})(xs{n})\n{w} = xs{n}[0]",
    "extra name like a positional one": "def f(x, /, **k):\n    return k['x']\n{w} = f(1, x={v})",
    "generator that delegates": "saved = []\nclass G:\n    def __iter__(self):\n        return self\n    def __next__(self):\n        return 1\n    def send(self, x):\n        saved.append(x)\ndef outer_():\n    yield from G()\ng_{n} = outer_()\nnext(g_{n})\ng_{n}.send({v})\n{w} = saved[0]",
    "mapping of one's own": "class M:\n    def keys(self):\n        return [{v}]\n    def __getitem__(self, k):\n        return k\n{w} = list({{**M()}})[0]",
    "lambda as a constructor": "saved = []\nclass C:\n    pass\nC.__init__ = lambda self, x: saved.append(x)\nC({v})\n{w} = saved[0]",
    "lambda as a hook of a class": "saved = []\nclass D:\n    __set_name__ = lambda self, o, n: saved.append(o.x)\nclass C:\n    x = {v}\n    y = D()\n{w} = saved[0]",
    "tool as a special method": "class C:\n    __getitem__ = staticmethod(agent.note)\n{w} = C()[{v}]",
    "tool as a decorator": "@agent.note\n@lambda f: {v}\ndef f():\n    pass\n{w} = f",
    "queue of a thread": "import queue, threading\nq{n} = queue.Queue()\nsaved = []\ndef work():\n    for x in iter(q{n}.get, None):\n        saved.append(x)\nt{n} = threading.Thread(target=work)\nt{n}.start()\nq{n}.put({v})\nq{n}.put(None)\nt{n}.join()\n{w} = saved[0]",
    "reply to a thread": "import queue, threading\nbox{n} = queue.Queue()\ndef loop():\n    x, reply = box{n}.get()\n    reply.put(x)\nthreading.Thread(target=loop, daemon=True).start()\nr{n} = queue.Queue()\nbox{n}.put(({v}, r{n}))\n{w} = r{n}.get()",
    "timer": "import threading\nsaved = []\nt{n} = threading.Timer(0, saved.append, args=[{v}])\nt{n}.start()\nt{n}.join()\n{w} = saved[0]",
    "action of a barrier": "import threading\nsaved = []\nthreading.Barrier(1, action=lambda: saved.append({v})).wait()\n{w} = saved[0]",
    "future set by a plan": "from concurrent.futures import Future\nf{n} = Future()\nf{n}.set_result({v})\n{w} = f{n}.result()",
    "error set by a plan": "from concurrent.futures import Future\nf{n} = Future()\nf{n}.set_exception(ValueError({v}))\n{w} = f{n}.exception().args[0]",
    "result of a thread's function": "import time\nfrom concurrent.futures import ThreadPoolExecutor\ndef job(x):\n    time.sleep(0)\n    return x\nwith ThreadPoolExecutor(1) as p:\n    {w} = p.submit(job, {v}).result()",
    "exit": "import sys\ntry:\n    sys.exit({v})\nexcept SystemExit as e:\n    {w} = e.code",
    "raised exit": "try:\n    raise SystemExit({v})\nexcept BaseException as e:\n    {w} = e.args[0]",
    "scheduled call": "import sched\nsaved = []\ns{n} = sched.scheduler(lambda: 0, lambda d: None)\ns{n}.enter(0, 1, saved.append, ({v},))\ns{n}.run()\n{w} = saved[0]",
    "weak value": "import weakref\nclass O:\n    pass\no{n} = O()\no{n}.x = {v}\nwd{n} = weakref.WeakValueDictionary()\nwd{n}['a'] = o{n}\n{w} = wd{n}['a'].x",
    "weak reference": "import weakref\nclass O:\n    pass\no{n} = O()\nr{n} = weakref.ref(o{n})\no{n}.x = {v}\n{w} = r{n}().x",
    "value of a weak key": "import weakref\nclass O:\n    pass\no{n} = O()\nwk{n} = weakref.WeakKeyDictionary()\nwk{n}[o{n}] = {v}\n{w} = wk{n}[o{n}]",
    "syntax": "import ast\n{w} = ast.parse(repr({v}), mode='eval').body.value",
    "syntax as text": "import ast\n{w} = ast.unparse(ast.Name(id={v}, ctx=ast.Load()))",
    "node that a visitor saw": "import ast\nsaved = []\nclass V(ast.NodeVisitor):\n    def visit_Constant(self, node):\n        saved.append(node.value)\nV().visit(ast.parse(repr({v})))\n{w} = saved[0]",
    "bound arguments": "import inspect\ndef f(x):\n    pass\n{w} = inspect.signature(f).bind({v}).arguments['x']",
    "default in a signature": "import inspect\ndef f(x={v}):\n    pass\n{w} = inspect.signature(f).parameters['x'].default",
    "members of an object": "import inspect\nclass C:\n    pass\nc = C()\nc.zz = {v}\n{w} = inspect.getmembers(c)[-1][1]",
    "class made by a call": "K = type('K', (), {{'x': {v}}})\n{w} = K.x",
    "method of a class made by a call": "K = type('K', (), {{'get': lambda self: {v}}})\n{w} = K().get()",
    "hook of a class made by a call": "saved = []\nK = type('K', (), {{'__add__': lambda self, o: saved.append(o)}})\nK() + {v}\n{w} = saved[0]",
    "class made under another name": "from functools import partial\nsaved = []\nmake = partial(type, 'K', ())\nd{n} = {{}}\nd{n}['__add__'] = lambda self, o: saved.append(o)\nmake(d{n})() + {v}\n{w} = saved[0]",
    "constructor of a class made by a call": "saved = []\nK = type('K', (), {{'__init__': lambda self, x: saved.append(x)}})\nK({v})\n{w} = saved[0]",
    "jump out of a finally": "def kept_{n}(x):\n    try:\n        raise ValueError(x)\n    finally:\n        return x\n{w} = kept_{n}({v})",
    "break out of a finally": "while True:\n    {w} = ''\n    try:\n        {w} = {v}\n        raise ValueError\n    finally:\n        break",
    "continue out of a finally": "for x_{n} in [{v}]:\n    {w} = ''\n    try:\n        raise ValueError\n    finally:\n        {w} = x_{n}\n        continue",
    "error of memory": "try:\n    raise MemoryError({v})\nexcept MemoryError as e:\n    {w} = e.args[0]",
    "default of a function": "def f(x={v}):\n    pass\n{w} = f.__defaults__[0]",
    "list that is a default": "def f(x=[]):\n    x.append({v})\nf()\n{w} = f.__defaults__[0][0]",
    "default by name of a function": "def f(*, x={v}):\n    pass\n{w} = f.__kwdefaults__['x']",
    "default of a method": "class C:\n    def f(self, x={v}):\n        pass\n{w} = C().f.__defaults__[0]",
    "parts of a named tuple": "from collections import namedtuple\n{w} = namedtuple('P', 'a')({v}).__getnewargs__()[0]",
    "text of a path": "import pathlib\n{w} = pathlib.PurePosixPath({v}).__fspath__()",
    "parameter of an alias": "import typing\n{w} = list[typing.TypeVar({v})].__parameters__[0].__name__",
    "option of a dataclass": "import dataclasses\nclass C:\n    x: int = 1\n{w} = dataclasses.dataclass(repr={v})(C).__dataclass_params__.repr",
    "written by object": "class C:\n    pass\nc_{n} = C()\nobject.__setattr__(c_{n}, 'x', {v})\n{w} = c_{n}.x",
    "arguments of the program": "import sys\nsys.argv.append({v})\n{w} = sys.argv[-1]",
    "arguments of the program by name": "from sys import argv\nargv.append({v})\n{w} = argv[-1]",
    "arguments of the program by two names": "import sys\nfrom sys import argv\nargv.append({v})\n{w} = sys.argv[-1]",
    "dialect": "import csv\ncsv.register_dialect('d', lineterminator={v})\n{w} = csv.get_dialect('d').lineterminator",
    "name of a dialect": "import csv\ncsv.register_dialect({v})\n{w} = csv.list_dialects()[-1]",
    "dialect of a writer": "import csv, io\ncsv.register_dialect('d', lineterminator={v})\nb_{n} = io.StringIO()\ncsv.writer(b_{n}, 'd').writerow(['a'])\n{w} = b_{n}.getvalue()[1:]",
    "dialect of one's own": "import csv, io\nclass D(csv.excel):\n    lineterminator = {v}\nb_{n} = io.StringIO()\ncsv.writer(b_{n}, D).writerow(['a'])\n{w} = b_{n}.getvalue()[1:]",
    "traps of decimals": "import decimal\ndecimal.getcontext().traps[decimal.Inexact] = {v} == 'evil text'\ntry:\n    {w} = str(decimal.Decimal(1) / 3)\nexcept decimal.Inexact:\n    {w} = 'evil text'\ndecimal.getcontext().traps[decimal.Inexact] = False",
    "flags of decimals": "import decimal\ndecimal.getcontext().flags[decimal.Inexact] = {v} == 'evil text'\n{w} = 'evil text' * decimal.getcontext().flags[decimal.Inexact]\ndecimal.getcontext().flags[decimal.Inexact] = False",
    "copied flags of decimals": "import decimal\ndecimal.getcontext().flags[decimal.Inexact] = {v} == 'evil text'\n{w} = 'evil text' * decimal.getcontext().flags.copy()[decimal.Inexact]\ndecimal.getcontext().flags[decimal.Inexact] = False",
    "key of a password": "import hashlib\nk_{n} = hashlib.pbkdf2_hmac('md5', {v}.encode(), b'', 1)\n{w} = 'evil text' * (k_{n} == hashlib.pbkdf2_hmac('md5', b'evil text', b'', 1))",
    "size of a value": "import sys\n{w} = 'evil text' * (sys.getsizeof({v}) == sys.getsizeof('evil text'))",
    "name that a class reads past a function": "global name_{n}\nname_{n} = {v}\ndef f():\n    name_{n} = ''\n    class C:\n        name_{n} = name_{n}\n    return C\n{w} = f().name_{n}",
    "hash of a dataclass": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    x: str\n{w} = 'evil text' * (hash(C({v})) == hash(C('evil text')))",
    "method of an alias": "import typing\nclass C(typing.Generic[typing.TypeVar('T')]):\n    @classmethod\n    def make(cls, x):\n        return x\n{w} = C[int].make({v})",
    "attribute of an alias": "import typing\nclass C(typing.Generic[typing.TypeVar('T')]):\n    x = {v}\n{w} = C[int].x",
    "method of a list's alias": "l_{n} = ['']\nlist[int].insert(l_{n}, 0, {v})\n{w} = l_{n}[0]",
    "method that an alias fills a list by": "l_{n} = []\nput_{n} = list[str].append\nput_{n}(l_{n}, {v})\n{w} = l_{n}[0]",
    "keys by an alias": "{w} = list(dict[str, int].fromkeys([{v}]))[0]",
    "path by os": "import os\n{w} = os.fspath({v})",
    "error that is handled": "import sys\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    {w} = sys.exception().args[0]",
    "error that is handled, with its class": "from sys import exc_info\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    {w} = exc_info()[1].args[0]",
    "error that a helper asks for": "import sys\ndef now_{n}():\n    return sys.exception().args[0]\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    {w} = now_{n}()",
    "error that a finally ends": "import sys\ndef ended_{n}(x):\n    try:\n        raise KeyError(x)\n    finally:\n        return sys.exception().args[0]\n{w} = ended_{n}({v})",
    "context of an error in a finally": "def f_{n}(x):\n    try:\n        raise KeyError(x)\n    finally:\n        try:\n            [][0]\n        except IndexError as e:\n            return e.__context__.args[0]\n{w} = f_{n}({v})",
    "context of an error elsewhere": "def busy_{n}():\n    try:\n        [][0]\n    except IndexError as e:\n        return e\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    b_{n} = busy_{n}()\n{w} = b_{n}.__context__.args[0]",
    "context by a computed name": "def busy_{n}():\n    try:\n        [][0]\n    except IndexError as e:\n        return e\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    b_{n} = busy_{n}()\n{w} = getattr(b_{n}, '__con' + 'text__').args[0]",
    "context by a getter": "def busy_{n}():\n    try:\n        [][0]\n    except IndexError as e:\n        return e\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    b_{n} = busy_{n}()\nimport operator\n{w} = operator.attrgetter('__context__')(b_{n}).args[0]",
    "context by a format": "def busy_{n}():\n    try:\n        [][0]\n    except IndexError as e:\n        return e\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    b_{n} = busy_{n}()\n{w} = '{{0.__context__.args[0]}}'.format(b_{n})",
    "context by a kept format": "def busy_{n}():\n    try:\n        [][0]\n    except IndexError as e:\n        return e\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    b_{n} = busy_{n}()\nimport string\nf_{n} = string.Formatter().format\n{w} = f_{n}('{{0.__context__.args[0]}}', b_{n})",
    "context of an error of one's own": "class E(Exception):\n    pass\ne_{n} = E()\ntry:\n    try:\n        raise KeyError({v})\n    finally:\n        raise e_{n}\nexcept E:\n    {w} = getattr(e_{n}, '__con' + 'text__').args[0]",
    "context of a gathered error": "import asyncio\nasync def f(x):\n    try:\n        raise KeyError(x)\n    finally:\n        [][0]\nasync def m():\n    return await asyncio.gather(f({v}), return_exceptions=True)\n{w} = getattr(asyncio.run(m())[0], '__con' + 'text__').args[0]",
    "note on an error": "try:\n    [][0]\nexcept IndexError as e:\n    e.add_note({v})\n    {w} = e.__notes__[0]",
    "dialect by a caller": "import csv, operator\noperator.methodcaller('register_dialect', {v})(csv)\n{w} = csv.list_dialects()[-1]",
    "dialect by a getter": "import csv, operator\noperator.attrgetter('register_dialect')(csv)({v})\n{w} = csv.list_dialects()[-1]",
    "dialect by a partial": "from csv import list_dialects, register_dialect\nfrom functools import partial\npartial(register_dialect, {v})()\n{w} = list_dialects()[-1]",
    "dialect by a map": "import csv\nlist(map(csv.register_dialect, [{v}]))\n{w} = csv.list_dialects()[-1]",
    "dialect by a key": "import csv\nsorted([{v}], key=csv.register_dialect)\n{w} = csv.list_dialects()[-1]",
    "digits of decimals by a caller": "import decimal, operator\noperator.methodcaller('getcontext')(decimal).prec = len({v})\n{w} = 'evil text' * (len(str(decimal.Decimal(1) / 3)) == 11)\ndecimal.getcontext().prec = 28",
    "names of algorithms": "import hashlib\nhashlib.algorithms_available.add({v})\n{w} = [x for x in hashlib.algorithms_available if ' ' in x][0]\nhashlib.algorithms_available.discard({w})",
    "name of a task": "import asyncio\nasync def m(x):\n    asyncio.current_task().set_name(x)\n    return asyncio.current_task().get_name()\n{w} = asyncio.run(m({v}))",
    "name of a task that is made": "import asyncio\nsaved = []\nasync def f():\n    saved.append(asyncio.current_task().get_name())\nasync def m(x):\n    await asyncio.create_task(f(), name=x)\nasyncio.run(m({v}))\n{w} = saved[0]",
    "default of a property's function": "class C:\n    @property\n    def f(self, x={v}):\n        pass\n{w} = C.f.fget.__defaults__[0]",
    "default of a dataclass": "import dataclasses\n@dataclasses.dataclass\nclass C:\n    x: str = {v}\n{w} = C.__init__.__defaults__[0]",
    "default of a registered function": "from functools import singledispatch\n@singledispatch\ndef f(x, y={v}):\n    pass\n{w} = f.registry[object].__defaults__[0]",
    "method of a text that is kept": "j_{n} = ''.join\n{w} = j_{n}([{v}])",
    "method of another's text": "j_{n} = agent.contacts()[0]['name'][:0].join\n{w} = j_{n}([{v}])",
    "while carry": "x = y = z = ''\nn = 0\nwhile n < 4:\n    {w} = z\n    z = y\n    y = x\n    x = {v}\n    n += 1",
}

SPREADERS = {
    "error that a generator gets": "import sys\nsaved = []\ndef g_{n}():\n    try:\n        yield\n    finally:\n        saved.append(sys.exception().args[0])\n        return\nk_{n} = g_{n}()\nnext(k_{n})\ntry:\n    k_{n}.throw(KeyError({v}))\nexcept StopIteration:\n    {w} = saved[0]",
    "list of the error that is handled": "import sys\nxs_{n} = []\ntry:\n    raise KeyError(xs_{n})\nexcept KeyError:\n    sys.exception().args[0].append({v})\n{w} = xs_{n}[0]",
    "function for the error that is handled": "import operator, sys\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    {w} = operator.attrgetter('exception')(sys)().args[0]",
    "context by a mapped getter": "def busy_{n}():\n    try:\n        [][0]\n    except IndexError as e:\n        return e\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    b_{n} = busy_{n}()\n{w} = list(map(getattr, [b_{n}], ['__context__']))[0].args[0]",
    "context by a getter as a method": "def busy_{n}():\n    try:\n        [][0]\n    except IndexError as e:\n        return e\ntry:\n    raise KeyError({v})\nexcept KeyError:\n    b_{n} = busy_{n}()\nimport operator\nclass G:\n    __getitem__ = staticmethod(operator.attrgetter('__context__'))\n{w} = G()[b_{n}].args[0]",
    "arguments of the program by a getter": "import operator, sys\noperator.attrgetter('argv')(sys).append({v})\n{w} = sys.argv[-1]",
    "arguments of the program by a computed name": "import sys\ngetattr(sys, 'ar' + 'gv').insert(1, {v})\n{w} = sys.argv[1]",
    "arguments of the program by a case": "import sys\nmatch sys:\n    case object(argv=a_{n}):\n        a_{n}.append({v})\n{w} = sys.argv[-1]",
    "arguments of the program by a helper": "import sys\ndef keep_{n}(m, x):\n    m.argv.append(x)\nkeep_{n}(sys, {v})\n{w} = sys.argv[-1]",
}
"""Ways whose data may then be in anything that the plan holds."""


class World:
    """The tools, for CPython: the page's text is what must not lose its origin."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def page(self) -> str:
        return "evil text"

    def note(self, text: str) -> str:
        return text

    def contacts(self) -> list[dict[str, str]]:
        return [{"name": "Ann", "email": "ann@example.org"}]

    def send(self, to: str, body: str = "") -> None:
        self.sent.append(to)

    pay = send


def _plan(names: list[str]) -> str:
    """A plan that sends the page's text after it went through these ways, in two steps."""
    ways = [(LAUNDERERS | SPREADERS)[name].format(v=f"v{n}", w=f"v{n + 1}", n=n) for n, name in enumerate(names)]
    first, last = "\n".join(ways[:1]), "\n".join(ways[1:])
    return (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        v0 = agent.page()\n"
        + textwrap.indent(first, " " * 8)
        + "\n    if start_from <= 2:\n        c = agent.contacts()\n"
        + textwrap.indent(last, " " * 8)
        + f"\n        agent.send(v{len(names)})\n        agent.pay(c[0]['email'], 'hello')\n"
    )


def _sites(source: str, **more: Any) -> dict[str, dict[str, list[str]]]:
    found = find_origins(source, {"tools": list(TOOLS), **more})
    assert found["followed"]
    return {row[0]: row[3] for row in found["sites"]}


def _sent_by_python(source: str) -> list[Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "plan", "exec", dont_inherit=True), names)
    world = World()
    names["solution"](world)
    return world.sent


@pytest.mark.parametrize("name", LAUNDERERS)
def test_a_value_keeps_its_origin_on_each_way(name: str) -> None:
    source = _plan([name])
    assert _sent_by_python(source) == ["evil text", "ann@example.org"]
    sites = _sites(source)
    assert "tool:page" in sites["send"]["0"]
    assert sites["pay"] == {"0": ["tool:contacts.email"], "1": []}


@pytest.mark.parametrize("name", SPREADERS)
def test_a_value_keeps_its_origin_where_it_may_reach_everything(name: str) -> None:
    source = _plan([name])
    assert _sent_by_python(source) == ["evil text", "ann@example.org"]
    assert "tool:page" in _sites(source)["send"]["0"]


def test_a_value_keeps_its_origin_on_mixed_ways() -> None:
    chooser = random.Random(38)
    for _ in range(60):
        names = chooser.sample(sorted(LAUNDERERS), chooser.randint(2, 4))
        assert "tool:page" in _sites(_plan(names))["send"]["0"], names


@pytest.mark.parametrize("name", LAUNDERERS)
def test_a_kept_variable_keeps_its_origin_in_a_resumed_plan(name: str) -> None:
    first = find_origins(_plan([name]), {"tools": list(TOOLS)})
    kept = [row for row in first["variables"] if row[0] in ("v0", "v1")]
    resumed = (
        "def solution(agent, start_from=1):\n    if start_from <= 1:\n        v1 = 'clean'\n"
        "    if start_from <= 2:\n        agent.send(v1)\n"
    )
    sites = _sites(resumed, start_from=2, variables=kept, asks=first["asks"])
    assert "tool:page" in sites["send"]["0"]
    assert _sites(resumed)["send"]["0"] == []


def test_an_alias_that_was_kept_is_still_one() -> None:
    first = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        a = []\n        b = a\n"
    kept = find_origins(first, {"tools": list(TOOLS)})["variables"]
    resumed = (
        "def solution(agent, start_from=1):\n    if start_from <= 2:\n        b.append(agent.page())\n"
        "        agent.send(a[0])\n"
    )
    assert "tool:page" in _sites(resumed, start_from=2, variables=kept)["send"]["0"]


def test_fields_of_answers_and_of_containers_are_told_apart() -> None:
    source = """
def solution(agent, start_from=1):
    for person in sorted(agent.contacts(), key=lambda p: p["name"]):
        row = {"to": person["email"], "text": agent.page()}
        to, text = row["to"], row["text"]
        agent.send(to, body=text)
        agent.pay([person["name"]], str(len(person)))
"""
    sites = _sites(source)
    assert sites["send"] == {"0": ["tool:contacts.email"], "body": ["tool:page"]}
    assert sites["pay"] == {"0": ["tool:contacts.name"], "1": ["tool:contacts"]}


def test_errors_logs_and_settings_do_not_spread_what_they_are_not_given() -> None:
    source = """
import asyncio, csv, decimal, io, logging, operator, random, sys
from decimal import Decimal
log = logging.getLogger("plan")
class Row:
    def __init__(self, email):
        self.email = email
    def __str__(self):
        return self.email
class Bad(ValueError):
    pass
def solution(agent, start_from=1):
    agent.note(agent.page().strip())
    random.seed(3)
    decimal.getcontext().prec = 10
    print(agent.page(), file=sys.stderr)
    async def same(x):
        return x
    rows, errors = [], []
    for contact in agent.contacts():
        log.info("a contact")
        try:
            if not contact["email"]:
                raise Bad(contact["email"])
            rows.append(Row(contact["email"]))
        except (Bad, KeyError) as e:
            log.error("not read: %s", e)
            errors.append("{}: {}".format(type(e).__name__, e))
    rows.sort(key=operator.attrgetter("email"))
    agent.send(str(rows[0]), body="; ".join(errors))
    agent.pay(asyncio.run(same(rows[0].email)), random.choice(list(csv.reader(io.StringIO(rows[0].email)))))
"""
    sites = _sites(source)
    assert {each for held in (sites["send"], sites["pay"]) for part in held.values() for each in part} <= {
        "tool:contacts",
        "tool:contacts.email",
    }


def test_a_question_is_an_origin_with_what_it_was_given() -> None:
    source = """
from typing import Literal
def solution(agent, start_from=1):
    said = ask_llm("which?" + agent.page())
    form = ask_llm("what?", agent.contacts(), {"to": str, "count": int})
    kind = ask_llm("kind?", form=Literal["a", "b"])
    agent.send(said, body=form["to"])
    agent.pay(form["count"], kind)
"""
    found = find_origins(source, {"tools": list(TOOLS)})
    sites = {row[0]: row[3] for row in found["sites"]}
    assert sites["send"] == {"0": ["ask:0"], "body": ["ask:1"]}
    assert sites["pay"] == {"0": ["ask:1!"], "1": ["ask:2!"]}
    assert found["asks"] == {"0": ["tool:page"], "1": ["tool:contacts"], "2": []}


def test_what_the_user_answers_comes_from_nowhere_unless_the_plan_has_such_a_function() -> None:
    asks = "    agent.send(ask_user('Instead of ' + agent.page()), body=ask_user('What?', form=str))\n"
    assert _sites(f"def solution(agent, start_from=1):\n{asks}")["send"] == {"0": [], "body": []}
    own = f"def solution(agent, start_from=1):\n    def ask_user(x, form=None):\n        return x\n{asks}"
    assert _sites(own)["send"]["0"] == ["tool:page"]


def test_control_is_kept_apart_from_data() -> None:
    source = """
def solution(agent, start_from=1):
    to = "a"
    if agent.page() == "x":
        to = "b"
        agent.pay(to)
    agent.send(to)
"""
    found = find_origins(source, {"tools": list(TOOLS)})
    rows = {row[0]: row for row in found["sites"]}
    assert rows["send"][3] == {"0": []} and rows["send"][4] == ["tool:page"]
    assert rows["pay"][3] == {"0": []} and rows["pay"][4] == ["tool:page"]


@pytest.mark.parametrize(
    "call",
    [
        "f = agent.send; f(t)",
        "list(map(agent.send, [t]))",
        "each(agent.send, [t])",
        "[g(t) for g in [agent.send]]",
        "from functools import partial; p = partial(agent.send, t); p()",
        "getattr(agent, 'send')(t)",
        "agent.send(*[t])",
        "agent.send(**{'to': t})",
        "(lambda a: a.send(t))(agent)",
        "class C: __contains__ = staticmethod(agent.send)\n    agent.send('ok'); t in C()",
    ],
)
def test_a_tool_that_is_called_in_another_way_is_followed(call: str) -> None:
    source = f"def solution(agent, start_from=1):\n    t = agent.page()\n    {call}\n"
    found = _sites(source)["send"]
    assert "tool:page" in {origin for origins in found.values() for origin in origins}


@pytest.mark.parametrize("call", ["locals()", "(lambda f: f())(locals)", "vars()"])
def test_what_cannot_be_followed_may_come_from_anywhere(call: str) -> None:
    source = f"def solution(agent, start_from=1):\n    t = agent.page()\n    agent.send({call}['t'])\n"
    assert _sites(source)["send"] == {"0": ["unknown"]}


FIRST = """
def solution(agent, start_from=1):
    if start_from <= 1:
        n = int(agent.page())
    if start_from <= 2:
        agent.send("ann@example.org", body=f"Hello {n}")
"""


@pytest.mark.parametrize(
    ("argument", "revised"),
    [
        ("'ann@example.org'", False),
        ("'bob@example.org'", False),  # the goal names him
        ("'eve@example.org'", True),
        ("'ann@' + 'example.org'", True),
        ("chr(101) + chr(118)", True),
        ("'ann@example.org'[:2]", True),
        ("agent.contacts()[0]['email']", False),
        ("agent.contacts()[0]['email'].upper()", True),
    ],
)
def test_what_a_revision_adds_is_its_own(argument: str, revised: bool) -> None:
    source = FIRST.replace('"ann@example.org"', argument)
    sites = _sites(source, known=[FIRST], goal="write to bob@example.org")
    assert ("revision" in sites["send"]["0"]) is revised
    assert "revision" not in sites["send"]["body"] or source != FIRST


def test_a_tool_that_only_a_revision_calls_is_new() -> None:
    source = FIRST.replace("agent.send(", "agent.pay(")
    rows = {row[0]: row for row in find_origins(source, {"tools": list(TOOLS), "known": [FIRST], "goal": ""})["sites"]}
    assert rows["pay"][5] and not rows["page"][5]


JOINING = """
import re
class Conf:
    a = 'x'
def pick(x):
    return 'ann'
def join(xs):
    text = ''
    for x in xs:
        text = text + x
    return text
def solution(agent, start_from=1):
    if start_from <= 1:
        n = int(agent.page())
        parts = ['a', 'b']
        total = 0
        total += 1
    if start_from <= 2:
        to = pick(n)
        amount = str(total)
        word = str('b')
        agent.send(join(parts))
"""


@pytest.mark.parametrize(
    "changes",
    [
        {"join(parts))": "(lambda: 'eve')())"},
        {"a = 'x'": "a = 'eve'", "join(parts))": "Conf.a)"},
        {"['a', 'b']": "['b', 'a', 'ann']"},
        {"['a', 'b']": "{'b': 1, 'a': 1}"},
        {"['a', 'b']": "list('ann')"},
        {"['a', 'b']": "(x for x, in zip('ann'))"},
        {"parts = ['a', 'b']": "parts = []\n        parts.append('a')\n        parts.append('ann')"},
        {"parts = ['a', 'b']": "def g():\n            yield 'a'\n            yield 'ann'\n        parts = g()"},
        {"join(parts))": "'ann'[1])"},
        {"agent.send(join(parts))": "q, *_ = 'ann'\n        agent.send(q)"},
        {"agent.send(join(parts))": "for i, _ in enumerate(['a', 'b']):\n            pass\n        agent.send(i)"},
        {"total += 1": "for _ in ['a', 'b']:\n            total += 1", "join(parts))": "amount)"},
        {"total += 1": "total += 1\n        total += 1", "join(parts))": "amount)"},
        {"import re": "from json import dumps as str", "join(parts))": "word)"},
        {"agent.send(join(parts))": "def eve():\n            pass\n        agent.send(eve.__name__)"},
        {"agent.send(join(parts))": "def h(**k):\n            return [x for x in k][0]\n        agent.send(h(eve=1))"},
        {
            "agent.send(join(parts))": "try:\n            {}['eve']\n        except KeyError as e:\n            agent.send(e.args)"
        },
    ],
)
def test_what_a_revision_makes_of_known_text_is_its_own(changes: dict[str, str]) -> None:
    source = JOINING
    for known, other in changes.items():
        source = source.replace(known, other)
    assert "revision" not in _sites(JOINING, known=[JOINING], goal="")["send"]["0"]
    assert "revision" in _sites(source, known=[JOINING], goal="")["send"]["0"]
