"""Inserts mistakes into TextCraft plans."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sequence
from typing import TypeVar

from codeplan.standin.mistakes import MistakeInserter, replace_call, replace_text
from codeplan.standin.plan_edits import remove_step, split_steps

T = TypeVar("T")
_MADE = re.compile(r"^        made = make\((\d+), '([^']+)', \d+, \{(.*)\}\)$", re.MULTILINE)
_NEEDS = re.compile(r"gather\((\{'.*\})\)")


def _change_count(plan: str, which: float) -> str:
    """Take one more or one less of an ingredient."""
    calls = [range(*call.span(3)) for call in _MADE.finditer(plan)]
    counts = [m for m in re.finditer(r": (\d+)", plan) if any(m.start() in call for call in calls)]
    count, more = _choose([(m, more) for m in counts for more in (1, -1) if int(m[1]) + more > 0], which)
    return f"{plan[: count.start(1)]}{int(count[1]) + more}{plan[count.end(1) :]}"


def _remove_ingredient(plan: str, which: float) -> str:
    """Drop one item to get, or one step that crafts an ingredient, if there is one."""
    needs, steps = _parse_needs(plan), _intermediate_steps(plan)
    if not needs and not steps:
        return plan
    forgotten = _choose([*needs, *steps], which)
    if isinstance(forgotten, int):
        return remove_step(plan, forgotten)
    return _replace_needs(plan, {name: count for name, count in needs.items() if name != forgotten})


def _get_product(plan: str, which: float) -> str:
    """Get an ingredient instead of crafting it, if there is one."""
    steps = _intermediate_steps(plan)
    if not steps or not _parse_needs(plan):
        return plan
    step = _choose(list(steps), which)
    name, count = steps[step]
    return _replace_needs(remove_step(plan, step), {**_parse_needs(plan), name: count})


MISTAKE_INSERTERS: dict[str, MistakeInserter] = {
    "wrong_count": _change_count,
    "forgotten_ingredient": _remove_ingredient,
    "sought_product": _get_product,
    "unknown_method": replace_call(("get", "fetch"), ("craft", "combine"), ("inventory", "check_inventory")),
    "syntax_error": replace_text(
        ("def gather(needs):", "def gather(needs)"),
        ("agent.inventory()\n", "agent.inventory(\n"),
        ("agent.inventory().get(item, 0)\n", "agent.inventory().get(item, 0\n"),
        ("agent.craft(each, item, ingredients):", "agent.craft(each, item, ingredients)"),
    ),
}
"""In the order of insertion."""


def _choose(options: Sequence[T], which: float) -> T:
    return options[int(which * len(options))]


def _parse_needs(plan: str) -> dict[str, int]:
    """The items that the plan's first step gets."""
    found = _NEEDS.search(plan)
    return literal_eval(found[1]) if found else {}


def _replace_needs(plan: str, needs: dict[str, int]) -> str:
    return _NEEDS.sub(lambda _: f"gather({needs})", plan, count=1)


def _intermediate_steps(plan: str) -> dict[int, tuple[str, int]]:
    """The steps that craft ingredients, with item and count."""
    steps = split_steps(plan)
    made = {number: _MADE.search(steps[number]) for number in sorted(steps)[1:-1]}
    return {number: (m[2], int(m[1])) for number, m in made.items() if m}
