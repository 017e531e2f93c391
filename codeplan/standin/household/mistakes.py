"""Inserts mistakes into household plans."""

from __future__ import annotations

import re
from functools import partial

from codeplan.standin.household.places import unlikely_places
from codeplan.standin.household.planning import ParsedHouseholdGoal
from codeplan.standin.mistakes import MistakeInserter

MISTAKE_NAMES = ("forgotten_walk", "wrong_guess", "unknown_method", "syntax_error")
"""In the order of insertion."""


def mistake_inserters(goal: ParsedHouseholdGoal) -> dict[str, MistakeInserter]:
    """The inserters for a plan with this goal, by mistake."""
    inserters = (_remove_walk, partial(_search_unlikely_places, goal), _insert_unknown_method, _insert_syntax_error)
    return dict(zip(MISTAKE_NAMES, inserters, strict=True))


def _remove_walk(plan: str, which: float) -> str:
    walks = list(re.finditer(r"^        visit\(.*\)\n", plan, re.MULTILINE))
    walk = walks[int(which * len(walks))]
    return plan[: walk.start()] + plan[walk.end() :]


def _search_unlikely_places(goal: ParsedHouseholdGoal, plan: str, which: float) -> str:
    first, step_2 = re.split(r"(?=^    if start_from <= 2:)", plan, maxsplit=1, flags=re.MULTILINE)
    places = str(unlikely_places(goal.thing, goal.room))
    first = re.sub(r"(?<=^        places = ).*$", places, first, flags=re.MULTILINE)
    unasked = re.sub(r"^        rest = .*?(?=^        assert)", "", first, flags=re.MULTILINE | re.DOTALL)
    return unasked + step_2


def _insert_unknown_method(plan: str, which: float) -> str:
    wrong = {"clean": "wash", "heat": "warm_up", "cool": "chill", "take": "pick_up", "turn_on": "switch_on"}
    used = [right for right in wrong if f"agent.{right}(" in plan]
    choice = int(which * (len(used) + 1))
    if choice == len(used):
        return plan.replace("        seen = {}\n", "        seen = {}\n        agent.look_around()\n")
    return plan.replace(f"agent.{used[choice]}(", f"agent.{wrong[used[choice]]}(")


def _insert_syntax_error(plan: str, which: float) -> str:
    options = ("def visit(place):", "if not found and rest:", "places, seen)\n", "agent.take(found, place)")
    present = [option for option in options if option in plan]
    right = present[int(which * len(present))]
    return plan.replace(right, right[:-2] + "\n" if right.endswith("\n") else right[:-1], 1)
