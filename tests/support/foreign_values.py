"""Values that a plan can build within its limits, and that are hostile to whoever shows or compares them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

VALUES: dict[str, str] = {
    "forty OrderedDicts of pairs": "x = OrderedDict()\nfor _ in range(40):\n    x = OrderedDict([(1, x), (2, x)])",
    "forty doubled lists": "x = [1]\nfor _ in range(40):\n    x = [x, x]",
    "Counters within Counters": "x = Counter({'a': 1})\nfor _ in range(60):\n    x = Counter({'a': x, 'b': x})",
    "defaultdicts within defaultdicts": (
        "x = defaultdict(list)\nfor _ in range(60):\n    y = defaultdict(dict)\n    y['l'] = x\n    y['r'] = x\n    x = y"
    ),
    "tuples as keys that share": "k = (1,)\nfor _ in range(14):\n    k = (k, k)\nx = {k: 'v', (k, 1): {(k, 2): k}}",
    "frozensets of frozensets": (
        "x = frozenset()\nfor _ in range(14):\n    x = frozenset([x, frozenset([x, 1])])\nx = [x] * 50"
    ),
    "lists that contain themselves": "x = [1]\nx.append(x)\ny = {'me': x}\ny['you'] = y\nx.append(y)",
    "deques that contain each other": "x = deque()\ny = deque([x, x])\nx.append(y)\nx.append(y)",
    "numbers of thousands of digits": "x = [(1 << 30000) + i for i in range(9)]\ny = {n: n for n in x}",
    "hundreds of variables": "\n".join(f"v{i} = [{i}]" for i in range(900)),
    "many aliases of one text": "s = 'long ' * 12000\nx = [[s] * 12]\nfor _ in range(9):\n    x = [x] * 12",
    "a text of escapes and marks of direction": "x = ['\\u202e\\x1b[2J\\u200f\\U000e0041' * 9000] * 9",
    "lone surrogates": "x = {'\\ud800' * 20000: '\\udfff' * 20000}",
    "nesting of 900": "x = []\nfor _ in range(900):\n    x = [x]",
    "nesting of 900 dicts in tuples": "x = {}\nfor _ in range(900):\n    x = {'a': [x, x]}",
    "a mixture": (
        "x = ['w' * 3000] * 12\nfor i in range(9):\n    x = [x, (x,), {'k': x, i: x}, deque([x]), OrderedDict(a=x)] * 2"
    ),
    "names as long as they may be": "\n".join(f"{'n' * 190}{i} = 'x' * 300" for i in range(200)),
    "a set of thousands of pairs": "x = {(i, str(i)) for i in range(4000)}",
    "keys with one hash": "x = {(a, b, c): 1 for a in (-1, -2) for b in (-1, -2) for c in (-1, -2)}",
    "bytes": "x = [b'\\x00\\xff' * 20000] * 40",
    "floats beyond numbers": "x = [float('nan'), float('inf'), -0.0] * 3000",
}
"""Bodies of plans, by what they leave in their variables."""


def as_plan(body: str, ending: str = "assert False, 'no'") -> str:
    """A plan that builds the variables in its only step and then fails."""
    lines = [*body.split("\n"), ending]
    inner = "\n".join(f"        {line}" for line in lines)
    return f"def solution(agent, start_from=1):\n    if start_from <= 1:\n        print('[Step 1] build')\n{inner}\n"


def doubled(times: int, wrap: Callable[[Any], Any] = lambda x: [x, x]) -> Any:
    """A value that holds the value before it twice, so many times."""
    value: Any = [1]
    for _ in range(times):
        value = wrap(value)
    return value


def count_steps(work: Callable[[], object]) -> int:
    """The number of calls of Python and of C functions that the work makes."""
    steps = 0

    def step(frame: object, event: str, argument: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(step)
    try:
        work()
    finally:
        sys.setprofile(before)
    return steps
