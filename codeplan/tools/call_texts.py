"""Calls of tools and their answers as texts, in Python's notation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from codeplan.plain_data import NotPlainData, unpack
from codeplan.types import Answer, Call
from codeplan.untrusted.values import ValueWriter, value_text

MAX_ASKED_ARGUMENT: Final = 1_000
"""Maximum length of each argument in a question about a call, in characters."""

MAX_ASKED_TEXT: Final = 300
"""Maximum length of each text in such an argument, in characters."""

_MAX_ARGUMENT: Final = 300  # characters of an argument
_MAX_TEXT: Final = 200  # characters of a text in an argument
_MAX_RESULT: Final = 20_000  # characters of a result, before a prompt shortens it


def call_text(tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """The call in a line, for the person who must approve it, and whether a part of the arguments is left out, which …
    marks.

    Each argument has room of its own: a long one must not push another out of sight.
    """
    writer = ValueWriter(max_string=MAX_ASKED_TEXT, marks_repeats=False)
    return _written(writer, tool, arguments, MAX_ASKED_ARGUMENT), writer.abbreviated


def shown_call(call: Call, max_argument: int = _MAX_ARGUMENT, max_text: int = _MAX_TEXT) -> str:
    """A call as a plan writes it; the words of an action in a world of text.

    At most ``max_argument`` characters of each argument are shown, and ``max_text`` of each text in it.
    """
    if call.arguments is None:
        return call.name
    writer = ValueWriter(max_string=max_text, marks_repeats=False, counts=True)
    return _written(writer, call.name, {n: unpacked(v) for n, v in call.arguments.items()}, max_argument)


def shown_answer(answer: Answer) -> str:
    """A tool's result as a plan prints it, or its error; the observation in a world of text."""
    if answer.observation is not None:
        return answer.observation.text
    if answer.error:
        return f"raised {answer.error}: {answer.message}"
    result = unpacked(answer.value)
    return result if isinstance(result, str) else value_text(result, _MAX_RESULT)


def _written(writer: ValueWriter, tool: str, arguments: Mapping[str, Any], most: int) -> str:
    return f"{tool}({', '.join(f'{name}={writer.text(value, most)}' for name, value in arguments.items())})"


def unpacked(packed: Any) -> Any:
    """The value; its packed form if a forged trace holds what packing never makes."""
    try:
        return unpack(packed)
    except NotPlainData:
        return packed
