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


class EmbeddedPictures:
    """The pictures of an episode as data URLs within the room of a page of events.

    A trace may name one picture many times, and equal pictures take almost no room when they are compressed. ``size``
    is the number of characters of the page's pictures, ``left_out`` how many pictures had no room.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.start_page(0)

    def start_page(self, room: int) -> None:
        """Begin a page whose pictures have ``room`` characters together."""
        self._room, self.size, self.left_out = room, 0, 0

    def address(self, event: int, file: str) -> str | None:
        """The picture as a data URL; None as for ``read_png``, and empty from the first that has no room."""
        if self.left_out:
            self.left_out += 1
            return ""
        content = read_png(self._folder, file)
        if content is None:
            return None
        url = "data:image/png;base64," + base64.b64encode(content).decode()
        if self.size + len(url) > self._room:
            self.left_out = 1
            return ""
        self.size += len(url)
        return url
