"""The mistakes that the scripted stand-in makes when it plans: natural ones, chosen by a hash, never when it mends."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from codeplan.errors import UsageError
from codeplan.types.value import Value


class Mistakes(Value, frozen=True):
    """How likely each mistake is in a plan, from 0 (never) to 1 (always); each is chosen for itself.

    In the household, ``forgotten_walk`` leaves out the way to the appliance, the target or the lamp; ``wrong_guess``
    looks for the object in an unlikely sort of place alone. In TextCraft, ``wrong_count`` takes too much or too little
    of an ingredient; ``forgotten_ingredient`` leaves out what is to be made first; ``sought_product`` looks for an
    ingredient that has to be made. In WebShop, ``wrong_guess`` reads about the first offer alone; in MiniWoB++
    it acts before it has seen the page answer. In all of them, ``unknown_method`` calls a method that the agent has
    not; ``syntax_error`` loses a bracket or a colon. Raises UsageError for a probability outside 0 to 1.
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
"""Mistakes by the name of their amount."""


def parse_mistakes(text: str) -> Mistakes:
    """``none``, ``some``, ``many``, or names of mistakes with commas between them, which are then always made.

    Raises UsageError, with what is valid, for anything else.
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
"""Works a mistake into a plan; the number, from 0 up to 1, chooses which of those of its sort."""


def insert_mistakes(
    plan: str, inserters: Mapping[str, MistakeInserter], mistakes: Mistakes, seed: int, task: str
) -> str:
    """The plan with the mistakes that ``seed`` and the task's text choose; always the same for the same arguments.

    ``spoilers`` work mistakes into the plan by their names, in their order.
    """
    for name, work_in in inserters.items():
        if hashed_fraction(seed, task, name) < getattr(mistakes, name):
            plan = work_in(plan, hashed_fraction(seed, task, name, "which"))
    return plan


def hashed_fraction(seed: int, *words: str) -> float:
    """A number from 0 up to 1 that depends on nothing but the arguments."""
    digest = hashlib.sha256("\0".join([str(seed), *words]).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
