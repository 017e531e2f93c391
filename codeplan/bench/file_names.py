"""Safe file names for cells, tasks and trainings with any name."""

from __future__ import annotations

import hashlib
import re

REPEAT_SUFFIX = re.compile(r"-r\d+\Z", re.ASCII)
"""The suffix of the folder of an episode's repeat."""


def safe_file_name(name: str) -> str:
    """The name itself if it is a safe file name, else a safe part of it with a digest."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.=+,") else "-" for c in name)[:80].lstrip(".")
    if kept == name and name and not REPEAT_SUFFIX.search(name):
        return name
    return f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
