"""Rejected syntax comes with an alternative. (The backend contract has samples of accepted syntax.)"""

from __future__ import annotations

import sys

import pytest
from support.guarded_plans import plan, refused, run

REFUSED: dict[str, tuple[str, str]] = {
    "a finaliser": (
        "class A:\n    def __del__(self):\n        pass",
        "write a context manager for what must be closed",
    ),
    "a class's door to pickle": (
        "class A:\n    def __reduce__(self):\n        pass",
        "a class of a plan cannot define `__reduce__`",
    ),
    "a class's own class": ("class A:\n    __class__ = int", "a class of a plan cannot define `__class__`"),
    "an own metaclass's hook": ("class A:\n    def __instancecheck__(self, x):\n        pass", "cannot define"),
    "a class called like a function of the runtime": ("class print:\n    pass", "`print` belongs to the runtime"),
    "yield in the plan itself": ("yield 1", "`yield` belongs into a helper function"),
    "nonlocal without a binding": ("def f():\n    nonlocal x\n    x = 1", "no binding for nonlocal `x` found"),
    "nonlocal at the top of the plan": ("nonlocal x", "no binding for nonlocal `x` found"),
    "a global of the runtime": ("def f():\n    global agent\n    agent = 1", "`agent` belongs to the runtime"),
    "an attribute of the agent written": ("agent.location = 'x'", "the agent's attributes cannot be written"),
    "an attribute of the agent deleted": ("del agent.location", "the agent's attributes cannot be written"),
    "an attribute of the agent set by name": (
        "setattr(agent, 'location', 'x')",
        "the agent's attributes cannot be written",
    ),
    "a private attribute": ("x = agent._env", "the agent has no `_env`"),
    "a frame": ("x = (i for i in []).gi_frame", "`.gi_frame` belongs to Python or to the runtime"),
    "a dunder": ("x = ().__subclasses__", "`.__subclasses__` belongs to Python or to the runtime"),
    "an object's class written": (
        "class A: pass\nA().__class__ = A",
        "`.__class__` belongs to Python or to the runtime",
    ),
    "a dict of attributes written": ("class A: pass\nA().__dict__ = {}", "`.__dict__` belongs to Python"),
    "a guard's name": ("_getattr_ = getattr", "names that begin and end with an underscore are reserved"),
    "a guard's name as a parameter": ("def f(_write_):\n    pass", "write `write` for `_write_`"),
    "a guard's name as a capture": ("match 1:\n    case _turn_:\n        pass", "write `turn` for `_turn_`"),
    "a guard's name as a function": ("def _fail_():\n    pass", "write `fail` for `_fail_`"),
    "a guard's name by a walrus": ("(_case_ := 1)", "write `case` for `_case_`"),
    "a guard's name in a class": ("class A:\n    _fail_ = print", "a class of a plan cannot define `_fail_`"),
    "a guard's name by global": ("def f():\n    global _fail_\n    _fail_ = print", "write `fail` for `_fail_`"),
    "a pattern that reads a dunder": (
        "match 1:\n    case int(__class__=x):\n        pass",
        "a case cannot read `__class__`",
    ),
    "a dotted pattern that reads a frame": (
        "g = ()\nmatch 1:\n    case g.gi_frame:\n        pass",
        "`.gi_frame` belongs",
    ),
    "a private import": ("import re as _getattr_", "an import cannot be called"),
    "agent assigned": ("agent = 1", "`agent` belongs to the runtime"),
    "print defined": ("def print(x):\n    pass", "`print` belongs to the runtime"),
    "start_from assigned": ("start_from = 3", "`start_from` belongs to the runtime"),
    "an import called agent": ("import json as agent", "an import cannot be called `agent`"),
    "a missing module beside other code, in a try for all": (
        "try:\n    import glob\n    print(glob)\nexcept Exception:\n    pass",
        "`glob` cannot be imported",
    ),
    "a module that is not there": ("import glob", "`glob` cannot be imported"),
    "a member that is not there": ("from string import hexdigit", "`string` has no `hexdigit` here"),
    "a star import": ("from math import *", "`math` has no `*` here"),
    "a relative import": ("from . import x", "cannot be imported"),
    "input": ("x = input('?')", "ask_llm(question)"),
    "open": ("x = open('f')", "plans cannot reach files"),
    "globals": ("globals()['x'] = 1", "a dict of your own"),
    "dunder import": ("__import__('numpy')", "write an import statement for `__import__`"),
    "exit": ("exit()", "use return"),
    "a class of type": ("class A(type):\n    pass", "use __init_subclass__ or a decorator"),
    "break outside a loop": ("break", "outside loop"),
    "await in a function that is not async": ("def f():\n    await agent.report()", "outside async function"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rejected_syntax_says_what_to_write_instead(name: str) -> None:
    body, expected = REFUSED[name]
    diagnostics = refused(plan(body)).diagnostics
    assert any(expected in d.message for d in diagnostics), [str(d) for d in diagnostics]
    assert all(d.line >= 2 and d.column >= 0 for d in diagnostics)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.12 introduces type parameters")
@pytest.mark.parametrize("head", ["def f[T](x)", "class A[T]"])
def test_type_parameters_are_refused(head: str) -> None:
    (diagnostic,) = refused(plan(f"{head}:\n    pass")).diagnostics
    assert diagnostic.message == "type parameters are not part of the plan language; leave them out"


def test_a_decorated_plan_is_refused() -> None:
    (diagnostic,) = refused("@print\n" + plan("pass")).diagnostics
    assert diagnostic.message == "solution takes no decorator; leave it out"


def test_all_problems_are_reported_at_once_in_source_order() -> None:
    diagnostics = refused(plan("x = _y_\nclass _A_:\n    pass\nimport glob\nagent.fly()")).diagnostics
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
