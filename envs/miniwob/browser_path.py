"""Which browser there is."""

from __future__ import annotations

import shutil
from pathlib import Path

from codeplan.errors import UsageError

INSTALL_HINT = (
    "install one, such as Debian's with: apt-get install -y chromium-headless-shell (or any Chrome or Chromium), "
    "or name its program by the setting browser"
)

_PLACES = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
"""Programs themselves. What distributions put on the PATH is often a script that starts them."""

_NAMES = ("chrome-headless-shell", "headless_shell", "google-chrome", "google-chrome-stable", "chromium", "chrome")


def find_browser(named: str | None = None) -> Path:
    """The program of the browser that is named, or of the one that is found: a headless shell first.

    Raises UsageError where there is none, with the way to get one.
    """
    if named is not None:
        if not (given := shutil.which(named)):
            raise UsageError(f"the browser {named!r} is no program; {INSTALL_HINT}")
        return Path(given)
    there = next((Path(place) for place in _PLACES if Path(place).is_file()), None)
    program = there or next((Path(found) for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise UsageError(f"there is no Chrome or Chromium here; {INSTALL_HINT}")
    return program
