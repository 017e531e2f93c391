"""``eval`` in plans: it computes over values, with the guards of the language, and reaches nothing that acts."""

from __future__ import annotations

import pytest
from support.guarded_plans import plan, run


@pytest.mark.parametrize(
    ("body", "printed"),
    [
        ("x = 4\nprint(eval('x * 2 + abs(-1)'))", "9\n"),
        ("def f(y):\n    x = 1\n    return eval('x + y')\nprint(f(3))", "4\n"),
        ("print(eval('a + b', {'a': 1}, {'b': 2}))", "3\n"),
        ("print(eval('[n * n for n in range(3)]'))", "[0, 1, 4]\n"),
    ],
)
def test_an_expression_sees_the_variables_that_python_would_show_it(body, printed):
    ran = run(plan(body))
    assert ran.error is None
    assert ran.output == printed


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("agent.walk(1)", NameError),
        ("ask_llm('x')", NameError),
        ("helper()", NameError),
        ("replan('x')", NameError),
        ("().__class__.__subclasses__()", SyntaxError),
        ("_getattr_(1, 'real')", SyntaxError),
        ("__builtins__", SyntaxError),
        ("x = 1", SyntaxError),
        ("1 +", SyntaxError),
        ("1; 2", SyntaxError),
    ],
)
def test_an_expression_reaches_nothing_that_acts_and_nothing_of_python_itself(text, error):
    ran = run(plan(f"def helper():\n    return agent.walk(1)\nx = eval({text!r})"))
    assert isinstance(ran.error, error), ran.error
    assert ran.host.calls == []


def test_a_text_that_would_crash_the_parser_is_refused():
    assert isinstance(run(plan("x = eval('-' * 70_000 + '1')")).error, SyntaxError)


def test_names_that_the_plan_gives_replace_no_guard():
    ran = run(plan("print(eval('x.real', {'_getattr_': lambda *a: 'mine', '__builtins__': {}, 'x': 3}))"))
    assert ran.output == "3\n"
