"""What the check reports about a plan's structure, its calls of the agent and its names."""

from __future__ import annotations

import sys

import pytest
from support.guarded_plans import accepted, check, plan, refused, run

from codeplan.types import Rejected

GOOD = '''\
"""A plan."""
from ast import literal_eval
from large_language_model import ask_llm as ask

LIMIT = 3  # how many places


def names_in(observation):
    return [w.strip('.,') for w in observation.split()]


def find(agent, item, places):
    for place in places:
        if item in names_in(agent.goto(place)):
            return place
    return None


def solution(agent, start_from=1):
    # General plan: look, then take
    if start_from <= 1:
        print('[Step 1] look for a mug')
        order = literal_eval(ask('where?')) if LIMIT > 5 else agent.receptacles[:LIMIT]
        found = find(agent, 'mug', order)
        assert found, f'Error in [Step 1]: nothing. {agent.report()}'
    if start_from <= 2:
        print(f'[Step 2] take it from {found}')
        for place in order:
            obs = agent.take('mug 1', found)
        if 'You' in obs:
            taken = True
        else:
            taken = False
        assert taken, f'Error in [Step 2]: {obs} {agent.report()}'
    if start_from <= 3:
        assert agent.holding == 'mug 1', f'Error in [Step 3]: {place}'
'''


def rules(source: str) -> list[str]:
    """Return the rules that a plan breaks; none if it is accepted."""
    result = check(source)
    return [d.rule for d in result.diagnostics] if isinstance(result, Rejected) else []


def steps(*bodies: str) -> str:
    """Return a plan with these steps, each with an assertion."""
    lines = ["def solution(agent, start_from=1):"]
    for k, body in enumerate(bodies, 1):
        lines.append(f"    if start_from <= {k}:")
        lines += [f"        {line}" for line in body.split("\n")]
        if "assert" not in body:
            lines.append("        assert True")
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------- what a plan is


def test_a_plan_is_described_step_by_step() -> None:
    made = accepted(GOOD)
    assert [(s.number, s.title) for s in made.steps] == [(1, "look for a mug"), (2, "take it from …"), (3, "")]
    assert [(s.line, s.end_line) for s in made.steps] == [(21, 25), (26, 34), (35, 36)]
    assert made.provides == ("LIMIT", "find", "names_in")
    assert made.steps[0].needs == ("LIMIT", "find", "names_in")
    assert made.steps[0].sets == ("found", "order")
    assert made.steps[1].needs == ("found", "order")
    assert made.steps[1].sets == ("taken",)
    assert made.steps[2].needs == ("place",)
    assert all(len(s.digest) == 16 for s in made.steps)
    assert made.source == GOOD


@pytest.mark.parametrize(
    "header",
    [
        "def solution(agent, start_from=1):",
        "def solution(agent, start_from):",
        "def solution(agent: Agent, start_from = 1) -> bool:",
        "def solution(\n    agent,\n    start_from=1,\n):",
    ],
)
def test_signatures_as_models_write_them_are_accepted(header: str) -> None:
    assert accepted(f"{header}\n    if start_from <= 1:\n        assert True\n").steps


def test_a_plan_without_steps_is_accepted_but_can_only_restart() -> None:
    made = accepted(plan("x = agent.goto('desk 1')\nassert 'mug' in x"))
    assert made.steps == ()
    assert made.provides == ("x",)


def test_a_final_call_of_solution_is_ignored() -> None:
    source = plan("print('once')") + (
        "\nif __name__ == '__main__':\n    agent = Agent()\n    solution(agent)\n"
        "solution(agent)\nresult = solution(agent, 1)\n"
    )
    accepted(source)
    assert run(source).output == "once\n"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("x = 'a'  # a comment\n\n\nassert x,   'no'", True),
        ('x = "a"\n"""why"""\nassert (x), "no"', True),
        ("x = ('a')\npass\nassert x, 'n' 'o'", True),
        ("x = 'b'\nassert x, 'no'", False),
        ("x = 'a'\nassert not x, 'no'", False),
        ("y = 'a'\nassert y, 'no'", False),
    ],
)
def test_a_digest_changes_with_the_code_and_not_with_its_layout(other: str, same: bool) -> None:
    before = accepted(steps("x = 'a'\nassert x, 'no'")).steps[0].digest
    assert (accepted(steps(other)).steps[0].digest == before) is same


def test_a_whole_number_may_be_longer_than_python_writes_in_decimal() -> None:
    digests = [accepted(steps(f"x = {hex(16**9000 + n)}\nassert x")).steps[0].digest for n in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]


def test_a_digest_changes_with_the_functions_that_a_step_uses() -> None:
    def digests(inner: str, unused: str) -> list[str]:
        helpers = (
            f"def inner():\n    return {inner}\ndef outer():\n    return inner()\ndef unused():\n    return {unused}\n"
        )
        return [s.digest for s in accepted(helpers + steps("assert outer()", "assert True")).steps]

    first = digests("1", "1")
    assert digests("1", "2") == first
    assert digests("2", "1")[0] != first[0]
    assert digests("2", "1")[1] == first[1]


# ---------------------------------------------------------------------- needs and sets


@pytest.mark.parametrize(
    ("body", "sets"),
    [
        ("if agent.location:\n    a = 1\nelse:\n    a = 2", ("a",)),
        ("if agent.location:\n    a = 1", ()),
        ("for a in [1]:\n    b = 1", ()),
        ("while True:\n    a = 1\n    if a:\n        break", ("a",)),
        ("while agent.location:\n    a = 1", ()),
        ("try:\n    a = 1\nexcept Exception:\n    a = 2", ("a",)),
        ("try:\n    a = 1\nexcept Exception:\n    pass", ()),
        ("try:\n    b = 1\nfinally:\n    a = 1", ("a", "b")),
        ("if agent.location:\n    raise ValueError\nelse:\n    a = 1", ("a",)),
        ("if not agent.location:\n    assert False, 'no'\nelse:\n    a = 1", ("a",)),
        ("if agent.location:\n    give_up('no')\nelse:\n    a = 1", ("a",)),
        ("if agent.location:\n    a = 1\nelse:\n    replan('no')", ("a",)),
        ("a = 1\nassert a\nif agent.location:\n    b = 1\nreplan('more')", ("a",)),
        ("match agent.location:\n    case 'x':\n        a = 1\n    case _:\n        a = 2", ("a",)),
        ("match agent.location:\n    case 'x':\n        a = 1", ()),
        ("match agent.location:\n    case 'x':\n        a = 1\n    case _ if start_from:\n        a = 2", ()),
        ("match agent.location:\n    case 'x' as place:\n        a = 1", ()),
        ("while 0:\n    a = 1\nb = 1", ("b",)),
        ("if agent.location:\n    try:\n        b = 1\n    finally:\n        give_up('no')\nelse:\n    a = 1", ("a",)),
        ("a = b = 1\ndel b", ("a",)),
        ("(a, [b, *c]) = 1, [2]", ("a", "b", "c")),
        ("x = [y := i for i in [1]]", ("x",)),
        ("assert (n := 3) > 2", ("n",)),
        ("with_else = 0\nfor i in [1]:\n    pass\nelse:\n    a = 1", ("a", "with_else")),
    ],
)
def test_a_step_sets_what_it_sets_on_every_path(body: str, sets: tuple[str, ...]) -> None:
    assert accepted(steps(body)).steps[0].sets == sets


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("print(a)", ("a",)),
        ("a = 1\nprint(a)", ()),
        ("a += 1", ("a",)),
        ("a[0] = 1", ("a",)),
        ("if b:\n    a = 1\nprint(a)", ("a", "b")),
        ("print([a for a in b])", ("b",)),
        ("print(sorted(b, key=lambda v: a[v]))", ("a", "b")),
        ("def f():\n    return a\nprint(f())", ("a",)),
        ("def f(a):\n    return a\nprint(f(1))", ()),
        ("a: int = 3\nprint(a)", ()),
        ("print(agent.location, start_from, len('x'), ask_llm('q'))", ()),
        ("while (a := agent.location) and a != 'x':\n    print(a)\n    break", ()),
        ("print(helper())", ("b", "helper")),
        ("if b and 3 > (a := 2):\n    print(a)", ("b",)),
        ("if b or (a := 2):\n    print(a)", ("a", "b")),
        ("match b:\n    case 1 if a:\n        pass", ("a", "b")),
        ("print([i for i in [1] for j in b])", ("b",)),
        ("def f(x=b):\n    return x\nprint(f())", ("b",)),
    ],
)
def test_a_step_needs_what_it_reads_before_it_has_set_it(body: str, needs: tuple[str, ...]) -> None:
    source = "def helper():\n    return b\n" + steps("a = [1]\nb = [0]", body)
    assert accepted(source).steps[1].needs == needs


# ---------------------------------------------------------------------- structure


STRUCTURE: dict[str, tuple[str, str, int, str]] = {
    "nothing at all": ("", "no-python", 0, "one fenced python block"),
    "another function": ("def plan(agent):\n    pass\n", "solution-missing", 0, "there is no function `solution`"),
    "two solutions": (plan("pass") + plan("pass"), "solution-twice", 1, "keep one definition"),
    "no parameters": ("def solution():\n    pass\n", "solution-signature", 1, "the signature must be"),
    "other parameters": (
        "def solution(env, start_from=1):\n    pass\n",
        "solution-signature",
        1,
        "the signature must be",
    ),
    "more parameters": (
        "def solution(agent, start_from=1, x=2):\n    pass\n",
        "solution-signature",
        1,
        "set other values in the body",
    ),
    "guard with ==": (plan("if start_from == 1:\n    assert True"), "step-guard", 2, "`if start_from <= k:`"),
    "guard with a name": (plan("k = 1\nif start_from <= k:\n    assert True"), "step-guard", 3, "a literal number"),
    "guard and more": (
        plan("if start_from <= 1 and agent:\n    assert True"),
        "step-guard",
        2,
        "other conditions are not allowed",
    ),
    "guard with else": (
        plan("if start_from <= 1:\n    assert True\nelse:\n    pass"),
        "step-guard",
        4,
        "no elif or else",
    ),
    "a step in a step": (
        plan("if start_from <= 1:\n    assert True\n    if start_from <= 2:\n        assert True"),
        "step-guard",
        4,
        "side by side",
    ),
    "a step in a loop": (
        plan("for i in [1]:\n    if start_from <= 1:\n        assert True"),
        "step-guard",
        3,
        "side by side",
    ),
    "starting at 2": (plan("if start_from <= 2:\n    assert True"), "step-order", 2, "write `if start_from <= 1:`"),
    "a step left out": (
        plan("if start_from <= 1:\n    assert True\nif start_from <= 3:\n    assert True"),
        "step-order",
        4,
        "this one is number 2",
    ),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_a_malformed_plan_is_rejected_with_the_right_form(name: str) -> None:
    source, rule, line, text = STRUCTURE[name]
    found = [d for d in refused(source).diagnostics if d.rule == rule]
    assert [d.line for d in found] == [line]
    assert text in found[0].message


WARNINGS = {
    "a step without assertion": ("if start_from <= 1:\n    agent.goto('x')", "step-assertion", 2, "step 1 has no"),
    "an assertion of True": ("if start_from <= 1:\n    assert True", "assert-true", 3, "always holds"),
    "an assertion of a text": (
        "if start_from <= 1:\n    assert f'no {agent.holding}'",
        "assert-true",
        3,
        "always holds",
    ),
    "an assertion of a tuple": ("if start_from <= 1:\n    assert (agent.holding, 'no')", "assert-tuple", 3, "always"),
    "no steps": ("agent.goto('x')", "no-steps", 1, "cannot resume"),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_a_plan_that_can_run_gets_a_warning(name: str) -> None:
    body, rule, line, text = WARNINGS[name]
    found = accepted(plan(body)).warnings
    assert [(w.rule, w.line) for w in found] == [(rule, line)]
    assert text in found[0].message


@pytest.mark.parametrize("test", ["agent.holding", "0", "''", "()", "f'{agent.holding}'", "not 'x'"])
def test_an_assertion_that_may_fail_gets_no_warning(test: str) -> None:
    assert accepted(plan(f"if start_from <= 1:\n    assert {test}")).warnings == ()


def test_a_step_that_raises_needs_no_assertion() -> None:
    assert (
        accepted(plan("if start_from <= 1:\n    if not agent.holding:\n        raise ValueError('no')")).warnings == ()
    )


@pytest.mark.parametrize(("default", "step"), [("1", None), ("2", 2), ("3", 3)])
def test_a_header_names_the_step_to_resume_at(default: str, step: int | None) -> None:
    made = accepted(
        f"def solution(agent, start_from={default}):\n    if start_from <= 1:\n        assert agent.holding\n"
    )
    assert made.start_from == step
    assert [w.rule for w in made.warnings] == (["start-from"] if step else [])


def test_a_function_may_assert_for_a_step() -> None:
    helpers = "def must(x):\n    assert x, 'no'\ndef surely(x):\n    must(x)\n"
    made = accepted(helpers + plan("if start_from <= 1:\n    surely(agent.location)"))
    assert [s.needs for s in made.steps] == [("must", "surely")]
    assert made.warnings == ()


# ---------------------------------------------------------------------- the agent's API


@pytest.mark.parametrize(
    ("call", "rule", "text"),
    [
        (
            "agent.go_to('x')",
            "agent-method",
            "the agent has no `go_to`; did you mean `goto`? It has: goto, take, report, ",
        ),
        ("agent.inventory", "agent-method", "the agent has no `inventory`"),
        (
            "agent.goto()",
            "agent-arguments",
            "call `agent.goto` as goto(receptacle: str) -> str: missing a required argument: 'receptacle'",
        ),
        ("agent.goto('a', 'b')", "agent-arguments", "too many positional arguments"),
        (
            "agent.goto(place='a')",
            "agent-arguments",
            "goto(receptacle: str) -> str: goto has no argument `place`; it has receptacle",
        ),
        (
            "agent.goto('a', place='a', at=2)",
            "agent-arguments",
            "goto has no argument `place` or `at`; it has receptacle",
        ),
        ("agent.take('a', item='b')", "agent-arguments", "multiple values for argument 'item'"),
        ("agent.location()", "agent-arguments", "`agent.location` is a value, not a method"),
    ],
)
def test_wrong_uses_of_the_agent_are_reported(call: str, rule: str, text: str) -> None:
    (diagnostic,) = refused(plan(f"x = {call}")).diagnostics
    assert (diagnostic.rule, diagnostic.line, diagnostic.column) == (rule, 2, 9)
    assert text in diagnostic.message


def test_starred_and_named_arguments_are_accepted() -> None:
    source = plan(
        "a = ['x', 'y']\nagent.take(*a)\nagent.take(receptacle='r', item='i')\n"
        "agent.goto(**{'receptacle': 'x'})\ng = agent.goto"
    )
    assert accepted(source).provides == ("a", "g")
    assert run(source).host.calls == [
        ("take", ("x", "y"), {}),
        ("take", (), {"receptacle": "r", "item": "i"}),
        ("goto", (), {"receptacle": "x"}),
    ]


# ---------------------------------------------------------------------- names


def test_a_name_that_nothing_binds_is_undefined() -> None:
    (diagnostic,) = refused(plan("found = 1\nprint(fuond)")).diagnostics
    assert (diagnostic.rule, diagnostic.line, diagnostic.column) == ("name-undefined", 3, 11)
    assert diagnostic.message == "`fuond` is not defined; did you mean `found`? Otherwise set it first"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("loads", "did you mean `json.loads`? Otherwise set it first"),
        ("JSONDecodeError", "did you mean `json.JSONDecodeError`? Otherwise set it first"),
        ("sqrt", "did you mean `math.sqrt`? Otherwise set it first"),
        ("pi", "did you mean `math.pi`? Otherwise set it first"),
        ("x", "set it before it is read"),
    ],
)
def test_a_function_of_an_allowed_module_is_suggested_with_its_module(name: str, hint: str) -> None:
    (diagnostic,) = refused(plan(f"print({name})")).diagnostics
    assert diagnostic.message == f"`{name}` is not defined; {hint}"


def test_an_undefined_name_is_found_after_a_try_that_expects_another() -> None:
    assert rules(plan("try:\n    x = y\nexcept ValueError:\n    x = 0")) == ["name-undefined"]
    assert rules(plan("try:\n    x = 1\nexcept NameError:\n    x = y")) == ["name-undefined"]
    assert rules(plan("try:\n    x = y\nexcept (ValueError, NameError):\n    x = 0")) == []


def test_an_annotation_that_nothing_reads_may_name_anything() -> None:
    fields = "class C:\n    x: Unknown = 1\n\ndef solution(agent, start_from=1):\n    pass\n"
    assert rules(fields) == ["name-undefined"]
    assert rules("from __future__ import annotations\n" + fields) == []


def test_an_undefined_name_in_a_function_is_found() -> None:
    assert rules(plan("def f(x):\n    return [x, y, z] + [z for z in x]\nf(1)")) == ["name-undefined", "name-undefined"]


def test_a_name_that_only_a_later_step_sets_is_unset() -> None:
    (diagnostic,) = refused(steps("print(found)", "found = 1")).diagnostics
    assert (diagnostic.rule, diagnostic.line) == ("name-unset", 3)
    assert "first set in step 2" in diagnostic.message


@pytest.mark.parametrize("definition", ["def find(x):\n    return x", "find = lambda x: x"])
def test_a_step_cannot_use_a_function_of_another_step(definition: str) -> None:
    (diagnostic,) = refused(steps(definition, "print(find(1))")).diagnostics
    assert diagnostic.rule == "name-unset"
    assert "move its definition above the first step" in diagnostic.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("for r in agent.receptacles:\n    obs = agent.goto(r)", "print(r, obs)"),
        ("if agent.location:\n    found = 1", "print(found)"),
        ("try:\n    n = int('1')\nexcept ValueError as e:\n    print(e)", "print(n)"),
        ("print([w := 1 for x in [1]])", "print(w)"),
        ("def f():\n    return later\nlater = 1\nprint(f())", "print(later)"),
        ("import re\nm = re.match('a', 'a')", "print(m, re.escape('a'))"),
        ("from typing import List, Optional\nx: List[str] = []", "y: Optional[int] = None\nprint(x, y)"),
        ("list = [1]\nprint(list)", "print(list)"),
        ("def f(n):\n    return n", "def f(n):\n    return n + 1\nprint(f(1))"),
    ],
)
def test_names_as_models_use_them_are_accepted(first: str, second: str) -> None:
    assert len(accepted(steps(first, second)).steps) == 2


# ---------------------------------------------------------------------- syntax and size


def test_a_syntax_error_has_pythons_message_and_position() -> None:
    (diagnostic,) = refused("def solution(agent, start_from=1):\n    x = = 1\n").diagnostics
    assert (diagnostic.line, diagnostic.column, diagnostic.rule) == (2, 9, "syntax")
    assert diagnostic.message == "invalid syntax: `x = = 1`"


@pytest.mark.parametrize("begin", ["def f():", "async def f():", "class f:"])
def test_a_docstring_that_this_python_cannot_compile_is_named(begin: str) -> None:
    body = f"{begin}\n    'a \\ud800'"
    try:
        compile(body, "plan", "exec")
    except UnicodeEncodeError:  # from Python 3.13 on
        (diagnostic,) = refused(plan(body)).diagnostics
        assert "a docstring in this part of the plan holds half of a surrogate pair" in diagnostic.message
    else:
        assert accepted(plan(body))


@pytest.mark.parametrize("fence", ["```python", "~~~", "\n\n  ```"])
def test_a_markdown_fence_around_a_plan_is_named(fence: str) -> None:
    (diagnostic,) = refused(f"{fence}\ndef solution(agent, start_from=1):\n    pass\n```\n").diagnostics
    assert diagnostic.line == 1 + fence.count("\n")
    assert diagnostic.message.startswith("the plan begins with a Markdown fence; give the code alone")


def test_a_fence_within_a_plan_is_pythons_syntax_error() -> None:
    (diagnostic,) = refused("def solution(agent, start_from=1):\n    pass\n```\n").diagnostics
    assert diagnostic.line == 3 and "Markdown" not in diagnostic.message


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\0",
        "\ud800",
        "def solution(agent, start_from=1):\n",
        "def solution(agent, start_from=1):\n\tx = 1\n        y = 2\n",
        "x = " + "9" * 5000,
        "def f(a, a):\n    pass\n" + plan("pass"),
        "return\n" + plan("pass"),
        "def solution(agent, start_from=1):\n    'x",
    ],
)
def test_unparsable_text_is_rejected(source: str) -> None:
    assert rules(source) in (["syntax"], ["syntax", "syntax"], ["no-python"])


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\n" * 20_000,
        "x = " + "-" * 20_000 + "1",
        "x = " + "+".join("1" * 3000),
        "x = agent" + ".a" * 2000,
        "x = " + "not " * 5000 + "1",
        "[" * 150 + "]" * 150,
    ],
)
def test_too_long_or_too_deep_source_never_reaches_the_second_parser(source: str) -> None:
    assert rules(source) in (["size"], ["syntax"])


def test_a_long_honest_plan_is_accepted() -> None:
    body = "\n".join(f"x{i} = agent.goto('desk {i}')\nprint(x{i}, f'{{x{i}}}')" for i in range(100))
    made = accepted(steps(*[body] * 5))
    assert [len(s.sets) for s in made.steps] == [100] * 5


NEW_QUOTES = {
    'print(f"{d["a"]} and {d["b"]}")': "1 and 2\n",
    "print(f'{', '.join(['x', 'y'])}!')": "x, y!\n",
    "print(f\"{'\\n'.join(['x', 'y'])}\")": "x\ny\n",
    'print(f"{d["a"]:>{d["b"]}}|{{}} {"{"}")': " 1|{} {\n",
    'print(f"{f"<{d}>"}")': "<{'a': 1, 'b': 2}>\n",
}


@pytest.mark.parametrize("line", NEW_QUOTES)
def test_quotes_within_f_strings_are_read_as_newer_pythons_read_them(line: str) -> None:
    made = accepted(plan("d = {'a': 1, 'b': 2}\n" + line))
    assert run(made.source).output == NEW_QUOTES[line]
    assert (line in made.source) is (sys.version_info >= (3, 12))


def test_the_repair_does_not_make_a_broken_plan_worse() -> None:
    source = plan('x = f"{d["a"]"\ny = (')
    assert refused(source).source == source
