"""The Python of the host's child processes, and the folders from which they import codeplan and its dependencies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from codeplan.errors import SandboxError


def python_program() -> str:
    """The absolute path of this Python; empty if Python does not know it.

    With a relative folder in PATH, ``sys.executable`` is relative, but some child processes start in another folder.
    """
    return os.path.abspath(sys.executable) if sys.executable else ""


def import_paths() -> list[str]:
    """The existing absolute entries of ``sys.path``, and the folder of codeplan.

    Raises: SandboxError: Python imported another folder as codeplan, so codeplan's own folder is unknown.
    """
    entries = [p for p in sys.path if os.path.isabs(p) and os.path.exists(p)]
    package = sys.modules["codeplan"]
    if package.__file__ is None:
        hiding = ", ".join(package.__path__)
        raise SandboxError(f"the folder {hiding} hides the installed codeplan; start Python in another folder")
    home = str(Path(package.__file__).resolve().parent.parent)
    return entries if home in entries else [*entries, home]
