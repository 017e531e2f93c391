"""The texts between an agent and its environment: actions, and the fixed parts of observations.

An action is a name, a space and an argument, as in ``type hello`` or ``drag //a -> //b``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, cast, get_args

from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

ActionName = Literal[
    "type",
    "press_key",
    "click_option",
    "click_xpath",
    "move_mouse_on",
    "find",
    "clear",
    "wait",
    "scroll",
    "click_point",
    "drag",
    "drag_by",
    "draw",
]
KeyName = Literal[
    "enter",
    "space",
    "arrow_left",
    "arrow_right",
    "arrow_up",
    "arrow_down",
    "backspace",
    "tab",
    "delete",
    "escape",
    "home",
    "end",
    "page_up",
    "page_down",
    "select_all",
    "shift_arrow_left",
    "shift_arrow_right",
]

ACTION_NAMES: tuple[str, ...] = get_args(ActionName)
KEY_NAMES: tuple[str, ...] = get_args(KeyName)
PAPER_KEY_NAMES: tuple[str, ...] = KEY_NAMES[:7]
"""The keys that AdaPlanner's agent presses (Sun et al., NeurIPS 2023)."""

MAX_ARGUMENT_LENGTH = 5_000
"""Maximum length of an action's argument, in characters."""

MAX_WAIT_MS = 10_000
"""Longest wait of one action, in milliseconds of the page's clock."""

MAX_POINTS = 200
"""Points of a path that one action draws."""

_ARROW = " -> "
"""Separates an XPath from the rest. No XPath contains it, except in a string."""

_NUMBER = re.compile(r"-?\d{1,4}(\.\d{1,3})?")

Point = tuple[float, float]


class BrowserAction(Value, frozen=True):
    """A valid action. ``argument`` is the text to type, the key, an XPath, or an XPath, an arrow and numbers."""

    name: ActionName
    argument: str

    def __str__(self) -> str:
        return f"{self.name} {self.argument}"


def write_target(xpath: str, rest: str) -> str:
    """The argument of an action with an XPath and something else."""
    return f"{xpath}{_ARROW}{rest}"


def split_target(argument: str) -> tuple[str, str]:
    """The XPath of an argument, and the text after its last arrow."""
    xpath, _, rest = argument.rpartition(_ARROW)
    return xpath, rest


def write_points(points: list[Point]) -> str:
    """Points as text: ``10 20, 10.5 30``."""
    return ", ".join(f"{round(x, 3):g} {round(y, 3):g}" for x, y in points)


def read_points(text: str) -> list[Point]:
    """The points in a text; empty if it is malformed."""
    pairs = [pair.split(" ") for pair in text.split(", ")]
    if any(len(pair) != 2 or not all(_NUMBER.fullmatch(number) for number in pair) for pair in pairs):
        return []
    return [(float(x), float(y)) for x, y in pairs]


def parse_action(action: str) -> BrowserAction | str:
    """Parse an action; returns a sentence with the fault if it is invalid. The first space ends the name."""
    name, space, argument = action.partition(" ")
    if name not in ACTION_NAMES:
        return f"There is no action {_shorten(name)}; there are {', '.join(ACTION_NAMES)}."
    if not space or not argument:
        return f"The action {name} needs {_NEEDS.get(name, 'an XPath')} after it."
    if len(argument) > MAX_ARGUMENT_LENGTH:
        return f"The action {name} takes {MAX_ARGUMENT_LENGTH:,} characters at most, not {len(argument):,}."
    if any("\ud800" <= character <= "\udfff" for character in argument):
        return f"The action {name} takes whole characters, and there is half of one in {_shorten(argument)}."
    if name == "press_key" and argument not in KEY_NAMES:
        return f"There is no key {_shorten(argument)}; there are {', '.join(KEY_NAMES)}."
    if name in _CHECKS and not _CHECKS[name](argument):
        return f"The action {name} needs {_NEEDS[name]} after it, not {_shorten(argument)}."
    return BrowserAction(cast(ActionName, name), argument)


_NEEDS = {
    "type": "the characters",
    "press_key": f"one of {', '.join(KEY_NAMES)}",
    "wait": f"whole milliseconds from 1 to {MAX_WAIT_MS:,}",
    "scroll": "an XPath, -> and the pixels right and down, such as 0 100",
    "click_point": "an XPath, -> and a point such as 10 20",
    "drag": "two XPaths with -> between them",
    "drag_by": "an XPath, -> and the pixels right and down, such as 10 -20",
    "draw": f"an XPath, -> and 2 to {MAX_POINTS} points such as 10 20, 30 40",
}


def _has_points(least: int, most: int) -> Callable[[str], bool]:
    def check(argument: str) -> bool:
        xpath, rest = split_target(argument)
        return bool(xpath) and least <= len(read_points(rest)) <= most

    return check


def _is_wait(argument: str) -> bool:
    return argument.isascii() and argument.isdigit() and len(argument) < 9 and 1 <= int(argument) <= MAX_WAIT_MS


_CHECKS: dict[str, Callable[[str], bool]] = {
    "wait": _is_wait,
    "scroll": _has_points(1, 1),
    "click_point": _has_points(1, 1),
    "drag": lambda argument: all(split_target(argument)),
    "drag_by": _has_points(1, 1),
    "draw": _has_points(2, MAX_POINTS),
}


def _shorten(text: str) -> str:
    return in_quotes(text, 60)


# ------------------------------------------------------------------ observations

FOUND_PREFIX = "Found:\n"
GOAL_PREFIX = "Task: "
PAGE_PREFIX = "Page:\n"
ERROR_PREFIX = "Last action error: "
DONE_PREFIX = "DONE"
"""Only a solved task's last observation begins with it, so that a plan's assertion on it fails on a loss."""

FAILED_PREFIX = "FAILED"

SOLVED, FAILED, LIMIT_REACHED = (
    f"{DONE_PREFIX}. The task is solved.",
    f"{FAILED_PREFIX}. The task has ended without success.",
    f"{FAILED_PREFIX}. The last action allowed is spent, and the task not solved.",
)
