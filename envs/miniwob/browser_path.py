"""Finds the browser program."""

from __future__ import annotations

import shutil
from pathlib import Path

from codeplan.errors import UsageError
from codeplan.untrusted.values import in_quotes

INSTALL_HINT = (
    "install one, such as Debian's with: apt-get install -y chromium-headless-shell (or any Chrome or Chromium), "
    "or name its program by the setting browser"
)

_PATHS = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
"""The programs themselves. The commands that distributions put on the PATH are often scripts that start them."""

_NAMES = ("chrome-headless-shell", "headless_shell", "google-chrome", "google-chrome-stable", "chromium", "chrome")


def find_browser(named: str | None = None) -> Path:
    """The named browser's program, or an installed one, preferably a headless shell.

    Raises: UsageError with installation advice if there is none.
    """
    if named is not None:
        if not (given := shutil.which(named)):
            raise UsageError(f"the browser {in_quotes(named)} is not a program; {INSTALL_HINT}")
        return Path(given)
    known = next((Path(path) for path in _PATHS if Path(path).is_file()), None)
    program = known or next((Path(found) for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise UsageError(f"no Chrome or Chromium is installed; {INSTALL_HINT}")
    return program
