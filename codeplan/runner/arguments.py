"""Checks of arguments that all functions on episodes have: the folder of the trace, and the handler of events."""

from __future__ import annotations

import os

from codeplan.errors import UsageError
from codeplan.tools.approvals import require_callable
from codeplan.untrusted.surrogates import is_utf8
from codeplan.untrusted.values import in_quotes


def require_out(out: object) -> None:
    """Raise UsageError unless ``out`` is a folder's path that a trace can hold."""
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"out is the path of a folder, not {in_quotes(out)}")
    path = str(out)
    if not path:
        raise UsageError("out is empty; name a folder, or give None for no trace")
    if "\0" in path or not is_utf8(path):
        raise UsageError(f"the folder's path {in_quotes(path)} is not text in UTF-8; name another folder")


def require_handler(on_event: object) -> None:
    """Raise UsageError unless ``on_event`` is a function that takes an event, or None."""
    if on_event is not None:
        require_callable(on_event, "on_event", "on_event(event)", (1,))
