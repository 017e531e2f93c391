"""The code of plans that were checked lately, kept so that a plan which is run next need not be compiled again.

The code was made in the cage, is handed back into the cage as it came, and is nothing but bytes out here.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

MAX_PLANS: Final = 256
"""Plans that are kept; the one that was not used for longest goes first."""

MAX_CODE_BYTES: Final = 256 << 10
"""Bytes of one plan's code; a longer one is not kept."""


class CodeCache:
    """From a plan's source to its code. Safe to use from several threads; empty again in another process."""

    def __init__(self) -> None:
        self._codes: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[CodeCache], tuple[()]]:
        return CodeCache, ()

    def store(self, source: str, code: bytes) -> None:
        """Remember the code, if it is not too long."""
        if len(code) > MAX_CODE_BYTES:
            return
        with self._lock:
            self._codes[source] = code
            self._codes.move_to_end(source)
            if len(self._codes) > MAX_PLANS:
                self._codes.popitem(last=False)

    def get(self, source: str) -> bytes:
        """The code; empty where there is none, and the plan must be compiled."""
        with self._lock:
            if source not in self._codes:
                return b""
            self._codes.move_to_end(source)
            return self._codes[source]
