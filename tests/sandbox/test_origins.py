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
}


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
    ways = [LAUNDERERS[name].format(v=f"v{n}", w=f"v{n + 1}", n=n) for n, name in enumerate(names)]
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
    exec(compile(source, "plan", "exec"), names)
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


def test_a_value_keeps_its_origin_on_two_hundred_mixed_ways() -> None:
    chooser = random.Random(38)
    for _ in range(200):
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
    ],
)
def test_a_tool_that_is_called_in_another_way_is_followed(call: str) -> None:
    source = f"def solution(agent, start_from=1):\n    t = agent.page()\n    {call}\n"
    found = _sites(source)["send"]
    assert "tool:page" in {origin for origins in found.values() for origin in origins}


def test_what_cannot_be_followed_may_come_from_anywhere() -> None:
    source = "def solution(agent, start_from=1):\n    t = agent.page()\n    agent.send(locals()['t'])\n"
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
