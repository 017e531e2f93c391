"""Pictures that an episode recorded: PNG files in its folder, and nothing else."""

from __future__ import annotations

import base64
from pathlib import Path

MAX_PICTURE_BYTES = 1 << 20

_PNG = b"\x89PNG\r\n\x1a\n"


def read_png(folder: Path, file: str) -> bytes | None:
    """The picture that a trace in ``folder`` names; None where it is none, too large, or outside of the folder."""
    try:
        path = (folder / file).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file() or path.stat().st_size > MAX_PICTURE_BYTES:
            return None
        content = path.read_bytes()
    except (OSError, ValueError):
        return None
    return content if content.startswith(_PNG) else None


def picture_data_url(folder: Path, file: str) -> str | None:
    """The picture as an address that holds it; None as for ``png``."""
    content = read_png(folder, file)
    return None if content is None else "data:image/png;base64," + base64.b64encode(content).decode()
