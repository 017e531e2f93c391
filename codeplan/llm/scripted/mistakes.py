"""The mistakes that the scripted stand-in makes when it plans: natural ones, chosen by a hash, never when it mends."""

from __future__ import annotations

import hashlib
import re

from codeplan.errors import UsageError
from codeplan.llm.scripted.household import Chore
from codeplan.llm.scripted.places import unlikely
from codeplan.types import Value

NAMES = ("forgotten_walk", "wrong_guess", "unknown_method", "syntax_error")
"""In the order in which they are worked into a plan."""


class Mistakes(Value, frozen=True):
    """How likely each mistake is in a plan, from 0 (never) to 1 (always); each is chosen for itself.

    ``forgotten_walk`` leaves out the way to the appliance, the target or the lamp; ``wrong_guess`` looks for the object
    in an unlikely sort of place alone; ``unknown_method`` calls a method that the agent has not; ``syntax_error`` loses
    a bracket or a colon. Raises UsageError for a probability outside 0 to 1.
    """

    forgotten_walk: float = 0.0
    wrong_guess: float = 0.0
    unknown_method: float = 0.0
    syntax_error: float = 0.0

    def __post_init__(self) -> None:
        for name in NAMES:
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"the probability of {name} is {getattr(self, name)}; give a number from 0 to 1")


LEVELS = {
    "none": Mistakes(),
    "some": Mistakes(forgotten_walk=0.5, wrong_guess=0.5, unknown_method=0.25, syntax_error=0.1),
    "many": Mistakes(forgotten_walk=0.9, wrong_guess=0.9, unknown_method=0.6, syntax_error=0.4),
}
"""Mistakes by the name of their amount."""


def mistakes_called(text: str) -> Mistakes:
    """``none``, ``some``, ``many``, or names of mistakes with commas between them, which are then always made.

    Raises UsageError, with what is valid, for anything else.
    """
    names = [name.strip() for name in text.split(",")]
    if text in LEVELS:
        return LEVELS[text]
    if not set(names) <= set(NAMES):
        raise UsageError(
            f"mistakes {text!r} is not known; give {', '.join(LEVELS)}, or some of {', '.join(NAMES)}, "
            "with commas between them"
        )
    return Mistakes(**dict.fromkeys(names, 1.0))


def spoil(plan: str, chore: Chore, mistakes: Mistakes, seed: int, task: str) -> str:
    """The plan with the mistakes that ``seed`` and the task's text choose; always the same for the same arguments."""
    for name in NAMES:
        if draw(seed, task, name) < getattr(mistakes, name):
            plan = _SPOIL[name](plan, chore, draw(seed, task, name, "which"))
    return plan


def draw(seed: int, *words: str) -> float:
    """A number from 0 up to 1 that depends on nothing but the arguments."""
    digest = hashlib.sha256("\0".join([str(seed), *words]).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _forget_walk(plan: str, chore: Chore, which: float) -> str:
    walks = list(re.finditer(r"^        visit\(.*\)\n", plan, re.MULTILINE))
    walk = walks[int(which * len(walks))]
    return plan[: walk.start()] + plan[walk.end() :]


def _guess_wrong(plan: str, chore: Chore, which: float) -> str:
    first, step_2 = re.split(r"(?=^    if start_from <= 2:)", plan, maxsplit=1, flags=re.MULTILINE)
    first = re.sub(r"(?<=^        places = ).*$", str(unlikely(chore.thing, chore.room)), first, flags=re.MULTILINE)
    unasked = re.sub(r"^        rest = .*?(?=^        assert)", "", first, flags=re.MULTILINE | re.DOTALL)
    return unasked + step_2


def _call_unknown_method(plan: str, chore: Chore, which: float) -> str:
    wrong = {"clean": "wash", "heat": "warm_up", "cool": "chill", "take": "pick_up", "turn_on": "switch_on"}
    used = [right for right in wrong if f"agent.{right}(" in plan]
    choice = int(which * (len(used) + 1))
    if choice == len(used):
        return plan.replace("        seen = {}\n", "        seen = {}\n        agent.look_around()\n")
    return plan.replace(f"agent.{used[choice]}(", f"agent.{wrong[used[choice]]}(")


def _break_syntax(plan: str, chore: Chore, which: float) -> str:
    options = ("def visit(place):", "if not found and rest:", "places, seen)\n", "agent.take(found, place)")
    there = [option for option in options if option in plan]
    right = there[int(which * len(there))]
    return plan.replace(right, right[:-2] + "\n" if right.endswith("\n") else right[:-1], 1)


_SPOIL = {
    "forgotten_walk": _forget_walk,
    "wrong_guess": _guess_wrong,
    "unknown_method": _call_unknown_method,
    "syntax_error": _break_syntax,
}
