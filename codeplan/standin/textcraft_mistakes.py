"""How the scripted stand-in's mistakes are worked into a TextCraft plan."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sequence
from typing import TypeVar

from codeplan.standin.edits import parts, without_step
from codeplan.standin.mistakes import Spoiler

T = TypeVar("T")
_MADE = re.compile(r"^        made = make\((\d+), '([^']+)', \d+, \{(.*)\}\)$", re.MULTILINE)
_NEEDS = re.compile(r"gather\((\{'.*\})\)")


def _miscount(plan: str, which: float) -> str:
    """An ingredient of one command, with one more or one less of it."""
    calls = [range(*call.span(3)) for call in _MADE.finditer(plan)]
    counts = [m for m in re.finditer(r": (\d+)", plan) if any(m.start() in call for call in calls)]
    count, more = _chosen([(m, more) for m in counts for more in (1, -1) if int(m[1]) + more > 0], which)
    return f"{plan[: count.start(1)]}{int(count[1]) + more}{plan[count.end(1) :]}"


def _forget_ingredient(plan: str, which: float) -> str:
    """One thing less that is got, or one step less that makes an ingredient; as it was where there is neither."""
    needs, steps = _needs(plan), _intermediate(plan)
    if not needs and not steps:
        return plan
    forgotten = _chosen([*needs, *steps], which)
    if isinstance(forgotten, int):
        return without_step(plan, forgotten)
    return _with_needs(plan, {name: count for name, count in needs.items() if name != forgotten})


def _seek_product(plan: str, which: float) -> str:
    """An ingredient that is to be made is taken for one that can be got; as it was where none is made by its name."""
    steps = _intermediate(plan)
    if not steps or not _needs(plan):
        return plan
    step = _chosen(list(steps), which)
    name, count = steps[step]
    return _with_needs(without_step(plan, step), {**_needs(plan), name: count})


def _call_unknown_method(plan: str, which: float) -> str:
    right, wrong = _chosen([("get", "fetch"), ("craft", "combine"), ("inventory", "check_inventory")], which)
    return plan.replace(f"agent.{right}(", f"agent.{wrong}(")


def _break_syntax(plan: str, which: float) -> str:
    right, wrong = _chosen(
        [
            ("def gather(needs):", "def gather(needs)"),
            ("agent.inventory()\n", "agent.inventory(\n"),
            ("agent.inventory().get(item, 0)\n", "agent.inventory().get(item, 0\n"),
            ("agent.craft(each, item, ingredients):", "agent.craft(each, item, ingredients)"),
        ],
        which,
    )
    return plan.replace(right, wrong, 1)


SPOILERS: dict[str, Spoiler] = {
    "wrong_count": _miscount,
    "forgotten_ingredient": _forget_ingredient,
    "sought_product": _seek_product,
    "unknown_method": _call_unknown_method,
    "syntax_error": _break_syntax,
}
"""What works each mistake into a sound plan, in the order in which they are worked in."""


def _chosen(options: Sequence[T], which: float) -> T:
    return options[int(which * len(options))]


def _needs(plan: str) -> dict[str, int]:
    """What the plan's first step gets."""
    found = _NEEDS.search(plan)
    return literal_eval(found[1]) if found else {}


def _with_needs(plan: str, needs: dict[str, int]) -> str:
    return _NEEDS.sub(lambda _: f"gather({needs})", plan, count=1)


def _intermediate(plan: str) -> dict[int, tuple[str, int]]:
    """The steps that make ingredients by their names, with what they make."""
    steps = parts(plan)
    made = {number: _MADE.search(steps[number]) for number in sorted(steps)[1:-1]}
    return {number: (m[2], int(m[1])) for number, m in made.items() if m}
