"""The actions, as they cross to the environment: a name, one space, and what it is done to, as in ``type hello``."""

from __future__ import annotations

from typing import Literal, cast, get_args

from codeplan.types.value import Value

ActionName = Literal["type", "press_key", "click_option", "click_xpath", "move_mouse_on"]
KeyName = Literal["enter", "space", "arrow_left", "arrow_right", "arrow_up", "arrow_down", "backspace"]

ACTION_NAMES: tuple[str, ...] = get_args(ActionName)
KEY_NAMES: tuple[str, ...] = get_args(KeyName)
MAX_ARGUMENT_LENGTH = 5_000
"""Characters of what is typed, or of an XPath."""


class BrowserAction(Value, frozen=True):
    """An action that was understood. ``what`` is the text to type, the key, or the XPath."""

    name: ActionName
    argument: str

    def __str__(self) -> str:
        return f"{self.name} {self.argument}"


def parse_action(action: str) -> BrowserAction | str:
    """The action that a line says, or the sentence that tells why it is none. All after the first space counts."""
    name, space, what = action.partition(" ")
    if name not in ACTION_NAMES:
        return f"There is no action {_short(name)}; there are {', '.join(ACTION_NAMES)}."
    if not space or not what:
        return f"The action {name} needs {_needed(name)} after it."
    if len(what) > MAX_ARGUMENT_LENGTH:
        return f"The action {name} takes {MAX_ARGUMENT_LENGTH:,} characters at most, not {len(what):,}."
    if any("\ud800" <= character <= "\udfff" for character in what):
        return f"The action {name} takes whole characters, and there is half of one in {_short(what)}."
    if name == "press_key" and what not in KEY_NAMES:
        return f"There is no key {_short(what)}; there are {', '.join(KEY_NAMES)}."
    return BrowserAction(cast(ActionName, name), what)


def _needed(name: str) -> str:
    return {"type": "the characters", "press_key": f"one of {', '.join(KEY_NAMES)}"}.get(name, "an XPath")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
