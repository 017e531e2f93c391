"""The actions as text: a name, one space and an argument, as in ``type hello``."""

from __future__ import annotations

from typing import Literal, cast, get_args

from codeplan.types import Value
from codeplan.untrusted.values import in_quotes

ActionName = Literal["type", "press_key", "click_option", "click_xpath", "move_mouse_on"]
KeyName = Literal["enter", "space", "arrow_left", "arrow_right", "arrow_up", "arrow_down", "backspace"]

ACTION_NAMES: tuple[str, ...] = get_args(ActionName)
KEY_NAMES: tuple[str, ...] = get_args(KeyName)
MAX_ARGUMENT_LENGTH = 5_000
"""In characters."""


class BrowserAction(Value, frozen=True):
    """A valid action. ``argument`` is the text to type, the key, or the XPath."""

    name: ActionName
    argument: str

    def __str__(self) -> str:
        return f"{self.name} {self.argument}"


def parse_action(action: str) -> BrowserAction | str:
    """Parse an action; returns a sentence with the fault if it is invalid. The first space ends the name."""
    name, space, argument = action.partition(" ")
    if name not in ACTION_NAMES:
        return f"There is no action {_shorten(name)}; there are {', '.join(ACTION_NAMES)}."
    if not space or not argument:
        return f"The action {name} needs {_describe_argument(name)} after it."
    if len(argument) > MAX_ARGUMENT_LENGTH:
        return f"The action {name} takes {MAX_ARGUMENT_LENGTH:,} characters at most, not {len(argument):,}."
    if any("\ud800" <= character <= "\udfff" for character in argument):
        return f"The action {name} takes whole characters, and there is half of one in {_shorten(argument)}."
    if name == "press_key" and argument not in KEY_NAMES:
        return f"There is no key {_shorten(argument)}; there are {', '.join(KEY_NAMES)}."
    return BrowserAction(cast(ActionName, name), argument)


def _describe_argument(name: str) -> str:
    return {"type": "the characters", "press_key": f"one of {', '.join(KEY_NAMES)}"}.get(name, "an XPath")


def _shorten(text: str) -> str:
    return in_quotes(text, 60)
