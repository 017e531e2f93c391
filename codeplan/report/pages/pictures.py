"""Reads the pictures that an episode recorded: PNG files in its folder, and no other file."""

from __future__ import annotations

import base64
from pathlib import Path

from codeplan.untrusted.files import read_bytes

MAX_PICTURE_BYTES = 1 << 20

_PNG = b"\x89PNG\r\n\x1a\n"


def read_png(folder: Path, file: str) -> bytes | None:
    """A picture that the trace in ``folder`` names. None if it is not a PNG, too large, or outside the folder."""
    try:
        content = read_bytes(folder / file, MAX_PICTURE_BYTES, folder)
    except OSError:
        return None
    return content if content.startswith(_PNG) else None


def picture_data_url(folder: Path, file: str) -> str | None:
    """The picture as a data URL; None as for ``read_png``."""
    content = read_png(folder, file)
    return None if content is None else "data:image/png;base64," + base64.b64encode(content).decode()
