"""Rejected syntax comes with an alternative. (The backend contract has samples of accepted syntax.)"""

from __future__ import annotations

import pytest
from support.guarded_plans import plan, refused, run

REFUSED: dict[str, tuple[str, str]] = {
    "a class": ("class A:\n    pass", "plans have no classes; keep data in a dict"),
    "with": ("with open('x') as f:\n    pass", "with is not part of the plan language"),
    "yield": ("def g():\n    yield 1", "collect the values in a list"),
    "global": ("def f():\n    global x\n    x = 1", "return the new value"),
    "a decorator": ("@print\ndef f():\n    pass", "call the function by its name"),
    "an attribute written": ("agent.location = 'x'", "attributes cannot be written"),
    "an attribute deleted": ("del agent.location", "attributes cannot be written"),
    "a private attribute": ("x = agent._env", "`._env` is private"),
    "a dunder": ("x = ().__class__", "`.__class__` is private"),
    "a private name": ("_x = 1", "write `x` for `_x`"),
    "a guard's name": ("_getattr_ = getattr", "names that begin with an underscore"),
    "a private parameter": ("def f(_write_):\n    pass", "names that begin with an underscore"),
    "a private capture": ("match 1:\n    case _x:\n        pass", "names that begin with an underscore"),
    "a private function": ("def _f():\n    pass", "write `f` for `_f`"),
    "a private walrus": ("(_x := 1)", "names that begin with an underscore"),
    "a private import": ("import re as _getattr_", "an import cannot be called"),
    "agent assigned": ("agent = 1", "`agent` belongs to the runtime"),
    "print defined": ("def print(x):\n    pass", "`print` belongs to the runtime"),
    "start_from assigned": ("start_from = 3", "`start_from` belongs to the runtime"),
    "an import called agent": ("import json as agent", "an import cannot be called `agent`"),
    "a module that is not there": ("import os", "`os` cannot be imported"),
    "a member that is not there": ("from string import Formatter", "`string` has no `Formatter` here"),
    "a star import": ("from math import *", "`math` has no `*` here"),
    "a relative import": ("from . import x", "cannot be imported"),
    "a class pattern": ("match 1:\n    case int():\n        pass", "isinstance"),
    "a dotted pattern": ("match 1:\n    case agent.location:\n        pass", "literals and plain names"),
    "return in finally": ("try:\n    pass\nfinally:\n    return", "would lose errors"),
    "break in finally": ("for i in [1]:\n    try:\n        pass\n    finally:\n        break", "would lose errors"),
    "break in the else of a loop in finally": (
        "for i in [1]:\n    try:\n        pass\n    finally:\n        for j in [1]:\n            pass\n"
        "        else:\n            break",
        "would lose errors",
    ),
    "continue deep in finally": (
        "for i in [1]:\n    try:\n        pass\n    finally:\n        if i:\n            continue",
        "would lose errors",
    ),
    "except*": ("try:\n    pass\nexcept* ValueError:\n    pass", "use except"),
    "input": ("x = input('?')", "ask_llm(question)"),
    "open": ("x = open('f')", "plans cannot reach files"),
    "eval": ("x = eval('1')", "literal_eval"),
    "globals": ("x = globals()", "a dict of your own"),
    "dunder import": ("__import__('os')", "names that begin with an underscore"),
    "setattr": ("setattr(agent, 'x', 1)", "attributes cannot be written"),
    "exit": ("exit()", "use return"),
    "BaseException": ("try:\n    pass\nexcept BaseException:\n    pass", "write `except Exception`"),
    "break outside a loop": ("break", "outside loop"),
    "await in a function that is not async": ("def f():\n    await agent.report()", "outside async function"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rejected_syntax_says_what_to_write_instead(name: str) -> None:
    body, expected = REFUSED[name]
    diagnostics = refused(plan(body)).diagnostics
    assert any(expected in d.message for d in diagnostics), [str(d) for d in diagnostics]
    assert all(d.line >= 2 and d.column >= 0 for d in diagnostics)


def test_all_problems_are_reported_at_once_in_source_order() -> None:
    diagnostics = refused(plan("x = _y\nclass A:\n    pass\nimport os\nagent.fly()")).diagnostics
    assert [(d.line, d.rule) for d in diagnostics] == [
        (2, "language"),
        (3, "language"),
        (5, "import"),
        (6, "agent-method"),
    ]


def test_columns_count_characters() -> None:
    (diagnostic,) = refused(plan("x = 'ééé' + agent._env")).diagnostics
    assert (diagnostic.line, diagnostic.column) == (2, 17)


def test_a_huge_step_number_guards_no_step() -> None:
    ran = run("def solution(agent, start_from=1):\n    if start_from <= " + "1" * 50 + ":\n        x = start_from")

    assert ran.error is None
    assert ran.variables == {"x": 1}
