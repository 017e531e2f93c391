"""Every regular expression of the package takes linear time on every text."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest
from support.regex_costs import Mode, NotJudged, find_attack
from support.regex_finder import Expression, find_expressions

from codeplan.envs.household import make
from codeplan.types import ActionSpace

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent.parent
SCRIPTED = ("codeplan/standin/",)
"""What plays a model or a world in demonstrations and tests: it reads the project's own prompts."""

TRUSTED_TEXTS = {"codeplan/audit/auditor.py": "the corpus of attacks belongs to the user who runs the audit"}
"""Files with expressions that may be slow, and why no untrusted text meets them."""

KNOWN_WHEN_RUNNING = {
    "codeplan/planning/turns.py": "the rewrites of an environment, tested below",
    "codeplan/untrusted/patterns.py": "patterns of a manifest, which get a process and a time limit",
    "envs/alfworld/game_files.py": "constants of the same file, applied to the user's own game files",
}
"""Files with expressions that the source does not spell out, and where they come from."""


@cache
def all_expressions() -> tuple[Expression, ...]:
    folders = ("codeplan", "sandbox", "envs", "prompts")
    files = [Path(at, name) for top in folders for at, _, names in os.walk(ROOT / top) for name in names]
    paths = [f for f in sorted(files) if f.suffix == ".py" and not str(f.relative_to(ROOT)).startswith(SCRIPTED)]
    return tuple(e for f in paths for e in find_expressions(ROOT, f))


def test_all_expressions_are_found() -> None:
    assert len(all_expressions()) > 100
    assert {e.file for e in all_expressions() if e.pattern is None} == set(KNOWN_WHEN_RUNNING)


def test_every_expression_takes_linear_time() -> None:
    judged = [e for e in all_expressions() if e.pattern is not None and e.file not in TRUSTED_TEXTS]
    attacks = [(str(e), mode, find_attack(e.pattern or "", e.flags, mode)) for e in judged for mode in e.modes]
    assert [attack for attack in attacks if attack[2] is not None] == []


def test_the_rewrites_of_the_environments_take_linear_time() -> None:
    space: ActionSpace = make().space
    assert space.rewrites
    assert [find_attack(pattern, 0, "search") for pattern, _ in space.rewrites] == [None] * len(space.rewrites)


def test_code_gives_patterns_to_re_only_where_they_are_found() -> None:
    """An expression that goes to ``re`` under another name would not be judged."""
    for file in (f for top in ("codeplan", "sandbox", "envs") for f in (ROOT / top).rglob("*.py")):
        assert not re.search(r"^(?:from re import|import re as)", file.read_text("utf-8"), re.MULTILINE), file


SLOW = [
    (r"a*a*b", 0, "match"),
    (r"(a+)+b", 0, "match"),
    (r"(a*)*b", 0, "fullmatch"),
    (r"(a|ab|b)*c", 0, "match"),
    (r"\d+ kB", 0, "search"),
    (r"\s+$", 0, "search"),
    (r"[ \t]*(```+|~~~+)[ \t]*([\w+.#-]*)[^\n`]*$", 0, "match"),
    (r"\W*execution\s+order\W*:\W*?(?=[\w(])(.*)$", re.IGNORECASE, "match"),
    (r"craft (.*) using (.*)", 0, "fullmatch"),
    (r"(?:think|thought)\s*\d*\s*:", re.IGNORECASE, "match"),
    (r"^(.*)x(.*)y", re.MULTILINE, "search"),
    (r"(?=a*b)a", 0, "search"),
    (r"\[([^\]]+)\] \((\d+)\)", 0, "search"),
    (r"(?:\w+\s?)+:", 0, "match"),
]
LINEAR = [
    (r"\d+", 0, "search"),
    (r"(?<=://)[^/@\s]*@", 0, "search"),
    (r"a*+b", 0, "match"),
    (r"(?<!\d)\d++ kB", 0, "search"),
    (r"craft (.*) using (.*)", 0, "match"),
    (r"^craft (\d+) (.+?) using (.+)$", re.MULTILINE, "search"),
    (r'"(?:[^"\\]|\\.)*"', 0, "match"),
    (r"[^:]*:[^:]*:", 0, "match"),
    (r"\btask completed\b", re.IGNORECASE, "search"),
    (r"(?:ab)*c", 0, "match"),
    (r"a{1,80}a{1,80}b", 0, "search"),
]


@pytest.mark.parametrize(("pattern", "flags", "mode"), SLOW)
def test_a_slow_expression_is_recognised(pattern: str, flags: int, mode: Mode) -> None:
    assert find_attack(pattern, flags, mode) is not None


@pytest.mark.parametrize(("pattern", "flags", "mode"), LINEAR)
def test_a_linear_expression_is_recognised(pattern: str, flags: int, mode: Mode) -> None:
    assert find_attack(pattern, flags, mode) is None


def test_what_cannot_be_judged_is_not_passed() -> None:
    with pytest.raises(NotJudged):
        find_attack(r"(a+)\1", 0, "match")
