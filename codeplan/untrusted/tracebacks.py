"""Tracebacks of other people's code, as text of bounded size for its developer."""

from __future__ import annotations

import asyncio
import concurrent.futures
import traceback
from pathlib import Path
from types import TracebackType

from codeplan.errors import EnvironmentFailure, ModelError
from codeplan.untrusted.texts import MAX_REASON_CHARS, escape_surrogates, message_text, one_line
from codeplan.untrusted.values import type_name, value_text

MAX_TRACEBACK_CHARS = 8_000
"""Maximum length of a traceback, in characters."""

_MAX_ERROR = 500
_MAX_FRAMES = 20
_LEADING_FOLDERS = tuple(
    str(Path(file).parent) for file in (Path(__file__).parent, asyncio.__file__, concurrent.futures.__file__)
)
"""The folder of the code that calls the other code."""


def traceback_text(error: BaseException) -> str:
    """The traceback from the other code on, within MAX_TRACEBACK_CHARS; its end, if that is too long."""
    try:
        shown = traceback.TracebackException(type(error), error, _own_part(error.__traceback__), limit=-_MAX_FRAMES)
        text = escape_surrogates("".join(shown.format()).rstrip())
    except KeyboardInterrupt:
        raise
    except BaseException:  # the class of the error is the other people's too
        text = f"{type_name(error)}: its traceback cannot be read"
    return text if len(text) <= MAX_TRACEBACK_CHARS else "…" + text[-MAX_TRACEBACK_CHARS:]


def broken_model(name: str, error: BaseException) -> ModelError:
    """codeplan's error for an exception of the user's own model. Raise it from ``error``."""
    said = one_line(f"{type_name(error)}: {message_text(error)}", MAX_REASON_CHARS) + place_of(error)
    broken = ModelError(f"the model {one_line(name)} failed: {said}")
    broken.is_users_bug = True
    return broken


def wrong_reply(name: str, purpose: str, returned: str, remedy: str) -> ModelError:
    """codeplan's error for what a model of the user's own returned in place of a reply, as in "an int"."""
    wrong = ModelError(f"the model {one_line(name)} returned {returned} (purpose {purpose}); {remedy}")
    wrong.is_users_bug = True
    return wrong


def broken_environment(name: str, doing: str, error: BaseException) -> EnvironmentFailure:
    """codeplan's error for an exception of an environment, as in "while closing". Raise it from ``error``."""
    what = f"{value_text(error, _MAX_ERROR)}{place_of(error)}"
    broken = EnvironmentFailure(f"the environment {name} broke while {doing}: {what}")
    broken.is_users_bug = True
    return broken


def place_of(error: BaseException) -> str:
    """Where the other code raised it, as " (boxes.py, line 12)"; empty if it did not."""
    last = _own_part(error.__traceback__)
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_code.co_filename.startswith(_LEADING_FOLDERS):
        return ""
    return f" ({one_line(Path(last.tb_frame.f_code.co_filename).name, 80)}, line {last.tb_lineno})"


def _own_part(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames that lead to the other code."""
    while (
        trace is not None
        and trace.tb_next is not None
        and trace.tb_frame.f_code.co_filename.startswith(_LEADING_FOLDERS)
    ):
        trace = trace.tb_next
    return trace
