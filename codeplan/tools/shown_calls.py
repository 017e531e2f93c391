"""Shows calls of tools and their answers as a plan has them, in Python rather than in JSON."""

from __future__ import annotations

from typing import Final

from codeplan.errors import AgentError
from codeplan.tools.wire import read_answer, read_call
from codeplan.untrusted.values import ValueWriter, value_text

_MAX_ARGUMENT: Final = 300  # characters of an argument
_MAX_TEXT: Final = 200  # characters of a text in an argument
_MAX_RESULT: Final = 20_000  # characters of a result, before a prompt shortens it


def shown_call(action: str, max_argument: int = _MAX_ARGUMENT, max_text: int = _MAX_TEXT) -> str:
    """An action as a call in Python; an action that is not a call stays as it is.

    At most ``max_argument`` characters of each argument are shown, and ``max_text`` of each text in it.
    """
    try:
        name, arguments = read_call(action)
    except AgentError:
        return action
    writer = ValueWriter(max_string=max_text, marks_repeats=False, counts=True)
    given = (f"{n}={writer.text(value, max_argument)}" for n, value in arguments.items())
    return f"{name}({', '.join(given)})"


def shown_answer(observation: str) -> str:
    """The result in an observation as a plan prints it, or its error; any other text stays as it is."""
    try:
        answer = read_answer(observation)
    except (ValueError, AgentError):
        return observation
    if answer.error:
        return f"raised {answer.error}: {answer.message}"
    return answer.result if isinstance(answer.result, str) else value_text(answer.result, _MAX_RESULT)
