"""The actions, as they cross to the environment: a name, one space, and what it is done to, as in ``type hello``."""

from __future__ import annotations

from typing import Literal, cast, get_args

from codeplan.types import Value

Name = Literal["type", "press_key", "click_option", "click_xpath", "move_mouse_on"]
Key = Literal["enter", "space", "arrow_left", "arrow_right", "arrow_up", "arrow_down", "backspace"]

NAMES: tuple[str, ...] = get_args(Name)
KEYS: tuple[str, ...] = get_args(Key)
LONGEST = 5_000
"""Characters of what is typed, or of an XPath."""


class Action(Value, frozen=True):
    """An action that was understood. ``what`` is the text to type, the key, or the XPath."""

    name: Name
    what: str

    def __str__(self) -> str:
        return f"{self.name} {self.what}"


def parse(action: str) -> Action | str:
    """The action that a line says, or the sentence that tells why it is none. All after the first space counts."""
    name, space, what = action.partition(" ")
    if name not in NAMES:
        return f"There is no action {_short(name)}; there are {', '.join(NAMES)}."
    if not space or not what:
        return f"The action {name} needs {_needed(name)} after it."
    if len(what) > LONGEST:
        return f"The action {name} takes {LONGEST:,} characters at most, not {len(what):,}."
    if any("\ud800" <= character <= "\udfff" for character in what):
        return f"The action {name} takes whole characters, and there is half of one in {_short(what)}."
    if name == "press_key" and what not in KEYS:
        return f"There is no key {_short(what)}; there are {', '.join(KEYS)}."
    return Action(cast(Name, name), what)


def _needed(name: str) -> str:
    return {"type": "the characters", "press_key": f"one of {', '.join(KEYS)}"}.get(name, "an XPath")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
