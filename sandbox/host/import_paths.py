"""Where the processes that the host starts find codeplan and what it imports."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def import_paths() -> list[str]:
    """The existing absolute entries of ``sys.path``, and the folder of codeplan."""
    entries = [p for p in sys.path if os.path.isabs(p) and os.path.exists(p)]
    home = str(Path(sys.modules["codeplan"].__file__ or "").resolve().parent.parent)
    return entries if home in entries else [*entries, home]
