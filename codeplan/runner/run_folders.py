"""The folder of a recorded episode, as a user names it."""

from __future__ import annotations

import os
from pathlib import Path

from codeplan.errors import UsageError
from codeplan.runner.new_episodes import TRACE_NAME
from codeplan.untrusted.folders import find_files
from codeplan.untrusted.terminal import shell_word
from codeplan.untrusted.values import in_quotes

_DEPTH = 3
"""The depth of a bench's episodes below its folder."""


def find_trace(run: Path | str) -> Path:
    """Return the path of an episode's trace. ``run`` is the episode's folder, or the trace in it.

    It does not check whether the trace can be read.

    Raises: UsageError: there is no such folder, or no trace in it; the message names an episode further down.
    """
    folder = Path(run)
    if folder.name == TRACE_NAME and not os.path.isdir(folder):
        folder = folder.parent
    trace = folder / TRACE_NAME
    if os.path.lexists(trace):
        return trace
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {in_quotes(str(folder), 400)}; name an episode's, as given to --out")
    if not os.access(folder, os.R_OK | os.X_OK):
        return trace
    inner = next(find_files(folder, TRACE_NAME, _DEPTH), None)
    example = f", such as {in_quotes(str(inner.parent), 400)}" if inner else ", as given to --out"
    raise UsageError(f"there is no {TRACE_NAME} in {in_quotes(str(folder), 400)}; name one episode's folder{example}")


def describe_episode_folder(folder: Path) -> str:
    """Say that a folder, in which a bench is wanted, holds an episode, and how to see it; empty if it holds none."""
    if not os.path.lexists(folder / TRACE_NAME):
        return ""
    return f"it holds one episode; see it with: codeplan show {shell_word(folder)}"
