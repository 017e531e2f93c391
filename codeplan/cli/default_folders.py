"""The folders in the current folder that commands use if the user names none.

The current folder may come from a stranger, and the user did not type these names: they may not be links.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

RUNS = Path("runs")
"""The folder for traces if --out names none."""


@contextlib.contextmanager
def new_run_folder(*words: str | int | None) -> Iterator[Path]:
    """A new folder in ``runs/``, named after the time and the words. An empty one is removed at the end."""
    from codeplan.errors import UsageError
    from codeplan.untrusted.files import create_folder

    try:
        create_folder(RUNS)
        folder = _new_folder("-".join(str(w) for w in words if w is not None))
    except OSError as e:
        raise UsageError(f"cannot create a folder for the trace in {RUNS}: {e.strerror}; name one with --out") from None
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def require_no_link(folder: Path, option: str) -> None:
    """Check a default folder that is created only later. ``option`` names another one.

    Raises: UsageError: the folder, or one above it in the current folder, is a link.
    """
    from codeplan.errors import UsageError

    if link := next((part for part in (folder, *folder.parents) if part.is_symlink()), None):
        raise UsageError(f"{link} is a link; name the real folder with {option}")


def _new_folder(name: str) -> Path:
    import time

    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:80].rstrip(".")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for number in range(1, 1000):
        folder = RUNS / (f"{stamp}-{safe}" + (f"-{number}" if number > 1 else ""))
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise FileExistsError(17, "1000 runs started within a second")
