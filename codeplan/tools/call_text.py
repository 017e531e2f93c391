"""Shows a call of a tool to the person who must approve it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from codeplan.untrusted.values import ValueWriter

MAX_SHOWN_ARGUMENT: Final = 1_000
"""Maximum length of each argument in a question about a call, in characters."""

MAX_SHOWN_TEXT: Final = 300
"""Maximum length of each text in such an argument, in characters."""


def call_text(tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """The call in a line, and whether a part of the arguments is left out, which … marks.

    Each argument has room of its own: a long one must not push another out of sight.
    """
    writer = ValueWriter(max_string=MAX_SHOWN_TEXT, marks_repeats=False)
    shown = ", ".join(f"{name}={writer.text(value, MAX_SHOWN_ARGUMENT)}" for name, value in arguments.items())
    return f"{tool}({shown})", writer.abbreviated
