"""The mistakes that the stand-in makes in first plans, chosen by a hash of the seed and the task."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from codeplan.errors import UsageError
from codeplan.types import Value


class Mistakes(Value, frozen=True):
    """The probability of each mistake in a first plan, from 0 to 1; they are independent.

    In the household, ``forgotten_walk`` omits the walk to the appliance, the target or the lamp; ``wrong_guess``
    searches only unlikely places. In TextCraft, ``wrong_count`` takes one too many or too few of an ingredient;
    ``forgotten_ingredient`` omits an ingredient; ``sought_product`` tries to get an ingredient that must be crafted.
    ``wrong_guess`` reads only the first offer in WebShop, and acts before the page has answered in MiniWoB++. In
    ScienceWorld, ``wrong_guess`` seeks in an unlikely room; ``forgotten_walk`` omits the walk to the box.
    Everywhere, ``unknown_method`` calls a method that the agent does not have; ``syntax_error`` loses a bracket or a
    colon.

    Raises: UsageError: a probability is not from 0 to 1.
    """

    forgotten_walk: float = 0.0
    wrong_guess: float = 0.0
    wrong_count: float = 0.0
    forgotten_ingredient: float = 0.0
    sought_product: float = 0.0
    unknown_method: float = 0.0
    syntax_error: float = 0.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"the probability of {name} is {getattr(self, name)}; give a number from 0 to 1")


_SOME_RATES = {
    **{"forgotten_walk": 0.5, "wrong_guess": 0.5},
    **{"wrong_count": 0.35, "forgotten_ingredient": 0.35, "sought_product": 0.25},
    **{"unknown_method": 0.25, "syntax_error": 0.1},
}
_MANY_RATES = {
    **{"forgotten_walk": 0.9, "wrong_guess": 0.9},
    **{"wrong_count": 0.8, "forgotten_ingredient": 0.8, "sought_product": 0.7},
    **{"unknown_method": 0.6, "syntax_error": 0.4},
}
MISTAKE_LEVELS = {"none": Mistakes(), "some": Mistakes(**_SOME_RATES), "many": Mistakes(**_MANY_RATES)}
"""Named sets of probabilities."""


def parse_mistakes(text: str) -> Mistakes:
    """Mistakes from ``none``, ``some``, ``many``, or comma-separated names of mistakes, which then always occur.

    Raises: UsageError: the text is none of these.
    """
    names, known = [name.strip() for name in text.split(",")], Mistakes.__struct_fields__
    if text in MISTAKE_LEVELS:
        return MISTAKE_LEVELS[text]
    if not set(names) <= set(known):
        raise UsageError(
            f"mistakes {text!r} is not known; give {', '.join(MISTAKE_LEVELS)}, or some of {', '.join(known)}, "
            "with commas between them"
        )
    return Mistakes(**dict.fromkeys(names, 1.0))


MistakeInserter = Callable[[str, float], str]
"""Inserts a mistake into a plan; the number, from 0 up to 1, chooses where or how."""


def replace_call(*names: tuple[str, str]) -> MistakeInserter:
    """An inserter that replaces the calls of one method by a wrong name, out of pairs of right and wrong names."""

    def insert(plan: str, which: float) -> str:
        right, wrong = names[int(which * len(names))]
        return plan.replace(f"agent.{right}(", f"agent.{wrong}(")

    return insert


def replace_text(*texts: tuple[str, str]) -> MistakeInserter:
    """An inserter that replaces the first occurrence of a text, out of pairs of right and wrong texts."""

    def insert(plan: str, which: float) -> str:
        right, wrong = texts[int(which * len(texts))]
        return plan.replace(right, wrong, 1)

    return insert


def insert_mistakes(
    plan: str, inserters: Mapping[str, MistakeInserter], mistakes: Mistakes, seed: int, task: str
) -> str:
    """The plan with the mistakes that ``seed`` and the task's text choose. ``inserters`` are by name, in order."""
    for name, work_in in inserters.items():
        if hashed_fraction(seed, task, name) < getattr(mistakes, name):
            plan = work_in(plan, hashed_fraction(seed, task, name, "which"))
    return plan


def hashed_fraction(seed: int, *words: str) -> float:
    """A number from 0 up to 1 that depends only on the arguments."""
    digest = hashlib.sha256("\0".join([str(seed), *words]).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
