"""libcst must read a plan as Python does; otherwise the plan is refused."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.sample_plans import sample_attacks, sample_plans
from support.sample_worlds import SampleWalker

from codeplan.agent_interface import agent_api
from codeplan.sandbox import Limits, Sandbox
from codeplan.sandbox.language.layout_tree import parse_layout
from codeplan.sandbox.language.parsing import RejectedPlanError, parse_plan
from codeplan.types import Plan, Rejected

ROOT = Path(__file__).parents[3]
API = agent_api(SampleWalker)
PLAN = """\
import re
# before
def helper(place, *rest, key=1):
    return place

def solution(agent, start_from=1):
    '''General plan:
    look.'''
    seen = {
        'a': 1,
    }

    if start_from <= 1:
        # look
        for place in (
            'desk 1', 'shelf 2'
        ):
            try: seen[place] = agent.goto(place); x = 1
            except ValueError as error:
                pass
            else:

                y = 2
            # the loop's end
        assert seen
    # between
    if start_from <= 2:
        match seen:
            case {'a': 1}:
                z = 1
            case _: z = 2
        while z: z = 0
        if z:
            pass
        elif x:
            pass
        else:
            del z
"""


def sample_texts() -> list[str]:
    """Every text with a plan in this repository: samples, attacks, prompts, pages, recorded replies, tests of plans."""
    texts = [s.source for s in sample_plans()] + [a.source for a in sample_attacks()]
    texts += [
        p.read_text() for part in ("escapes", "plans", "sandbox") for p in (ROOT / "tests" / part).glob("**/*.py")
    ]
    for path in [*(ROOT / "docs").glob("*.md"), *(ROOT / "prompts").glob("**/*.j2"), ROOT / "README.md"]:
        texts += re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
    recorded = ROOT.parent / "shared" / "fixtures" / "model_replies.jsonl"
    for line in recorded.read_text().splitlines() if recorded.exists() else ():
        texts += re.findall(r"```python\\n(.*?)```", line, re.DOTALL)
    return [text.replace("\\n", "\n") if "\n" not in text else text for text in texts]


def parsed(text: str) -> ast.Module | None:
    try:
        return parse_plan(text)
    except RejectedPlanError:
        return None


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_both_parsers_agree_on_every_sample() -> None:
    texts = [(text, tree) for text in sample_texts() if (tree := parsed(text))]
    assert len(texts) > 500
    for text, tree in texts:
        parse_layout(text, tree)


@pytest.mark.long
def test_the_tree_in_the_zygote_is_libcsts() -> None:
    odd = ["", "x = (", "(x): int = 1\n", "if x:\ny\n", "def f(a, /, *b: int, c=1, **d) -> x: pass", "x\r\ny\r", "\tx"]
    texts = [*filter(parsed, sample_texts()), PLAN, *odd]
    command = [sys.executable, str(ROOT / "tests" / "support" / "lean_trees.py")]
    ran = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    assert len(found) == len(texts)
    assert {f for f in found if f != "refused"} == {""}
    assert found[-7:-3] == ["", "refused", "refused", "refused"]


def test_the_same_text_has_no_difference() -> None:
    assert parse_layout(PLAN, ast.parse(PLAN)).code == PLAN


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("start_from <= 2", "start_from <= 3"),
        ("start_from <= 2", "start_from < 3"),
        ("def helper", "def other"),
        ("place, *rest", "place, where, *rest"),
        ("*rest, key", "rest, *, key"),
        ("; x = 1", ""),
        ("; x = 1", "; x += 1"),
        ("    # between\n", ""),
        ("    # between\n", "    # between\n    # more\n"),
        ("        # look\n", "        # look\n        pass\n"),
        ("                y = 2\n", "                y = 2\n                y = 3\n"),
        ("            case _: z = 2\n", ""),
        ("        else:\n            del z\n", ""),
        ("        elif x:\n", "        if x:\n"),
        (
            "            except ValueError as error:\n                pass\n",
            "            finally:\n                pass\n",
        ),
        ("            # the loop's end\n        assert seen", "            # the loop's end\n            assert seen"),
        ("def solution", "async def solution"),
        ("        while z: z = 0\n", "        while z: z = 0\n        else: z = 1\n"),
    ],
)
def test_another_text_differs(was: str, now: str) -> None:
    other = PLAN.replace(was, now, 1)
    assert other != PLAN
    for mine, yours in ((PLAN, other), (other, PLAN)):
        tree = parsed(yours)
        if tree is None or parsed(mine) is None:
            continue
        with pytest.raises(RejectedPlanError, match=r"read this statement differently.*\[syntax\]"):
            parse_layout(mine, tree)


def plan(body: str) -> str:
    return "def solution(agent, start_from=1):\n    if start_from <= 1:\n        assert agent.goto('desk 1')\n" + body


def test_a_text_that_only_python_can_read_is_refused() -> None:
    found = Sandbox().check(plan("        (x): int = 1\n"), API)
    assert isinstance(found, Rejected)
    message = "libcst, the parser for fixes, cannot read this line; write it in a simpler way: `(x): int = 1`"
    assert [(d.rule, d.line, d.message) for d in found.diagnostics] == [("syntax", 4, message)]


TABBED = plan("    if start_from <= 2:\n\t    assert 1\n\t    print(TEXT)\n")


def test_tabs_and_spaces_that_only_python_can_read_become_spaces() -> None:
    found = Sandbox().check(TABBED.replace("TEXT", r"'a\tb'"), API)
    assert isinstance(found, Plan)
    assert "\n            assert 1\n            print('a" in found.source


def test_a_text_that_would_lose_its_tabs_is_refused() -> None:
    assert isinstance(Sandbox().check(TABBED.replace("TEXT", "'''a\n\tb'''"), API), Rejected)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (plan("").replace("def solution", "def ｓolution"), 1),  # for Python the letter is an s
        (plan("    if ｓtart_from <= 2:\n        assert agent.goto('desk 2')\n"), 4),
    ],
)
def test_a_text_that_both_read_differently_is_refused(source: str, line: int) -> None:
    found = Sandbox().check(source, API)
    assert isinstance(found, Rejected)
    ((rule, where, message),) = [(d.rule, d.line, d.message) for d in found.diagnostics]
    assert (rule, where) == ("syntax", line)
    assert message.startswith("Python and libcst, the parser for fixes, read this statement differently; write it in")


@pytest.mark.parametrize("opening", ["{1: ", "(", "(a, ", "[[", "K("])
def test_patterns_that_take_libcst_forever_end_with_the_time_limit(opening: str) -> None:
    closing = "".join({"{": "}", "(": ")", "[": "]"}.get(c, "") for c in reversed(opening))
    pattern = opening * 45 + "x" + closing * 45
    sandbox = Sandbox(Limits(wall=0.6))
    began = time.monotonic()
    found = sandbox.check(plan(f"        match 1:\n            case {pattern}: pass\n"), API)
    assert time.monotonic() - began < 20
    assert isinstance(found, Rejected)
    assert [d.message for d in found.diagnostics] == ["the parser gave up on this plan; write it shorter and flatter"]
    assert isinstance(sandbox.check(plan(""), API), Plan)


@pytest.mark.parametrize(
    "nested", ["(" * 190 + "1" + ")" * 190, "[" * 90 + "]" * 90, "not " * 90 + "1", "-" * 90 + "1"]
)
def test_deep_expressions_are_read(nested: str) -> None:
    assert isinstance(Sandbox().check(plan(f"        x = {nested}\n"), API), Plan)
