"""Shows a call of a tool to somebody who is asked about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from codeplan.untrusted.values import ValueWriter

MAX_SHOWN_ARGUMENT: Final = 1_000
"""What is shown of each argument of a call that a question is about at most, in characters."""

MAX_SHOWN_TEXT: Final = 300
"""What is shown of each text in such an argument at most, in characters."""


def call_text(tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """The call in a line, and whether something of the arguments is left out, which … stands for.

    Each argument has room of its own: a long one must not push another out of sight.
    """
    writer = ValueWriter(max_string=MAX_SHOWN_TEXT, marks_repeats=False)
    shown = ", ".join(f"{name}={writer.text(value, MAX_SHOWN_ARGUMENT)}" for name, value in arguments.items())
    return f"{tool}({shown})", writer.abbreviated
